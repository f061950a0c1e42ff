import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isBlank } from '../../src/platform/blank.js';
import { anyText } from '../support/anyJson.js';
import { pathTo, startEverybody, type Everybody } from '../support/everybody.js';
import type { ApiAnswer } from '../support/http.js';

/**
 * Text that is taken comes back as it was sent, to the last character; what is not taken is refused
 * and changes nothing.
 */

let everybody: Everybody;

beforeAll(async () => {
  everybody = await startEverybody();
});

const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  everybody.api.call(method, pathTo(path, everybody), {
    token: everybody.credentials.admin.token,
    ...(body !== undefined && { body }),
  });

interface Delivery {
  readonly checkpoints: readonly { readonly label: string; readonly neededFromClient?: string }[];
  readonly previewUrlOverride?: string;
}

const readDelivery = async (): Promise<Delivery> => (await call('GET', '/websites/:id/delivery')).body as Delivery;

const nameAt = async (path: string): Promise<unknown> => ((await call('GET', path)).body as { name: unknown }).name;

const putDelivery = (more: object): Promise<ApiAnswer> =>
  call('PUT', '/websites/:id/delivery', { estimatedCompletionAt: '2030-01-01T00:00:00.000Z', showPreviewUrl: false, ...more });

/** A field of text: how it is written and read, and the longest that it may be. */
interface TextField {
  readonly field: string;
  readonly maxLength: number;
  readonly write: (text: string) => Promise<ApiAnswer>;
  readonly read: () => Promise<unknown>;
  /** White space around a name is nobody's input, and a text that nobody sees may be none. */
  readonly kept?: (text: string) => string | undefined;
}

const trimmed = (text: string): string => text.trim();

const fields: readonly TextField[] = [
  {
    field: "a checkpoint's label",
    maxLength: 200,
    write: (label) => putDelivery({ checkpoints: [{ id: 'kickoff', label, order: 10, status: 'pending' }] }),
    read: async () => (await readDelivery()).checkpoints[0]?.label,
  },
  {
    field: 'what a checkpoint needs from the client',
    maxLength: 300,
    write: (neededFromClient) =>
      putDelivery({ checkpoints: [{ id: 'kickoff', label: 'Kickoff', order: 10, status: 'pending', neededFromClient }] }),
    read: async () => (await readDelivery()).checkpoints[0]?.neededFromClient,
    kept: (text) => (isBlank(text) ? undefined : text),
  },
  {
    field: "a delivery change's reason",
    maxLength: 1_000,
    write: (reason) =>
      putDelivery({ reason, checkpoints: [{ id: 'kickoff', label: reason.slice(0, 9), order: 10, status: 'pending' }] }),
    read: async () => {
      for (let path = '/websites/:id/delivery/history?limit=200'; ;) {
        const { body, headers } = await call('GET', path);
        const next = /^<[^>]*\/v1(\/[^>]*)>/.exec(headers.get('link') ?? '')?.[1];
        if (next === undefined) return (body as { reason?: string }[]).at(-1)?.reason;
        path = next;
      }
    },
  },
  {
    field: 'a preview address',
    maxLength: 200,
    write: (text) => putDelivery({ previewUrlOverride: `https://example.com/${text}` }),
    read: async () => (await readDelivery()).previewUrlOverride,
    kept: (text) => `https://example.com/${text}`,
  },
  {
    field: "a website's name",
    maxLength: 200,
    write: (name) => call('PATCH', '/websites/:id', { name }),
    read: () => nameAt('/websites/:id'),
    kept: trimmed,
  },
  {
    field: "a client's name",
    maxLength: 200,
    write: (name) => call('PATCH', '/clients/:id', { name }),
    read: () => nameAt('/clients/:id'),
    kept: trimmed,
  },
  {
    field: "an API key's name",
    maxLength: 100,
    write: (name) => call('POST', '/api-keys', { name }),
    read: async () => ((await call('GET', '/api-keys?limit=1')).body as { name: string }[])[0]?.name,
    kept: trimmed,
  },
];

test.each(fields)('$field', async ({ maxLength, write, read, kept = (text) => text }) => {
  let taken = 0;
  const property = fc.asyncProperty(anyText(maxLength), async (text) => {
    const before = await read();
    const { status, text: answer } = await write(text);
    expect([200, 201, 400]).toContain(status);
    if (status === 400) {
      expect(answer).toMatch(/^\{"error":"(Invalid request body — \w|name is required)/);
      expect(await read()).toStrictEqual(before);
    } else {
      taken += 1;
      expect(await read()).toBe(kept(text));
    }
  });
  await fc.assert(property, { numRuns: 40 });
  expect(taken).toBeGreaterThan(10);
});
