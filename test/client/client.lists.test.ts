import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { partOf, sortedPartOf, sortInParts } from '../../src/projections/page.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { startApi, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;

const names = ['Zoë', 'anna', 'Bert', 'Ärmel', 'carl'];
const total = 205;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
  for (let index = 0; index < total; index += 1) {
    const name = `${names[index % names.length] ?? ''} ${String(index).padStart(3, '0')}`;
    await createClient(
      api.engine,
      { email: `p${String(index)}@lists.example`, name },
      {
        commandId: api.engine.ids.commandId(),
        actor: someAdmin,
        requestId: 'r',
      },
    );
  }
});

const listed = async (query: string): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }> => {
  const { status, text, body, headers } = await api.call('GET', query.startsWith('/') ? query : `/clients?${query}`, { token });
  if (status !== 200) throw new Error(text);
  const next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return { names: (body as { name?: string }[]).map(({ name = '' }) => name), next };
};

/** The texts that are decrypted meanwhile. */
const decryptedBy = async (work: () => Promise<unknown>): Promise<number> => {
  const decrypt = jest.spyOn(api.engine.personal, 'decrypt');
  await work();
  const { length } = decrypt.mock.calls;
  decrypt.mockRestore();
  return length;
};

describe('GET /clients', () => {
  test('finds two characters by index: what does not match is not decrypted', async () => {
    let found: readonly string[] = [];
    expect(await decryptedBy(async () => (found = (await listed('q=ZO&limit=5')).names))).toBeLessThan(25);
    expect(found).toStrictEqual(['Zoë 200', 'Zoë 195', 'Zoë 190', 'Zoë 185', 'Zoë 180']);
    expect(await decryptedBy(async () => (found = (await listed('q=zq')).names))).toBeLessThan(5);
    expect(found).toStrictEqual([]);
  });

  test('finds the last two characters, and one character', async () => {
    expect((await listed('q=57')).names).toStrictEqual(['Bert 157', 'Bert 057']);
    expect((await listed('q=ë&limit=1')).names).toStrictEqual(['carl 204']);
    expect((await listed('q=z&limit=1')).names).toStrictEqual(['Zoë 200']);
    expect((await listed('q=%E2%82%AC')).names).toStrictEqual([]);
  });

  test('sorted by name: all are decrypted for the first page, and not again for the next', async () => {
    const walked: string[] = [];
    const { names: first, next } = await listed('sort=name&limit=50');
    walked.push(...first);
    let rest = next;
    expect(
      await decryptedBy(async () => {
        for (; rest !== undefined;) {
          const page = await listed(rest);
          walked.push(...page.names);
          rest = page.next;
        }
      }),
    ).toBeLessThan(3 * total);
    expect(walked).toHaveLength(total);
    const order = ['anna', 'Ärmel', 'Bert', 'carl', 'Zoë'];
    expect(walked.map((name) => name.replace(/ .*/, '')).filter((name, index, all) => name !== all[index - 1])).toStrictEqual(
      order,
    );
    expect((await listed('sort=-name&limit=2')).names).toStrictEqual(['Zoë 200', 'Zoë 195']);
  });

  test('sorted by address: who comes, changes or is erased is where they belong at once', async () => {
    expect((await listed('sort=email&limit=1')).names).toStrictEqual(['Zoë 000']);
    const { body } = await api.call('POST', '/clients', { token, body: { email: 'a@lists.example', name: 'New' } });
    expect((await listed('sort=email&limit=2')).names).toStrictEqual(['New', 'Zoë 000']);
    await api.call('PATCH', `/clients/${(body as { id: string }).id}`, { token, body: { name: 'zz' } });
    expect((await listed('sort=-name&limit=1')).names).toStrictEqual(['zz']);
    await api.call('DELETE', `/clients/${(body as { id: string }).id}`, { token });
    expect((await listed('sort=email&limit=1')).names).toStrictEqual(['Zoë 000']);
    expect((await listed('sort=-name&limit=1')).names).toStrictEqual(['Zoë 200']);
  });
});

test.each(['/clients', '/websites?q=x', '/audit', '/search?q=abc'])('GET %s ends with its caller, quietly', async (path) => {
  const { readModels } = api.engine;
  let begun: AbortSignal | undefined;
  const troubles = () => api.log.filter(({ level }) => Number(level) >= 40);
  const before = troubles().length;
  const find = jest.spyOn(readModels, 'find').mockImplementation(
    (_model, _query, signal = AbortSignal.abort(new Error('no signal'))) =>
      new Promise((_, reject) => {
        begun = signal;
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
  );
  try {
    const leaving = new AbortController();
    const answer = fetch(`${api.url}/v1${path}`, { headers: { authorization: `Bearer ${token}` }, signal: leaving.signal });
    const signal = await eventually('the list begins', () => begun);
    expect(signal.aborted).toBe(false);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await eventually('the list ends', () => (signal.aborted ? true : undefined));
    expect(troubles().slice(before)).toStrictEqual([]);
  } finally {
    find.mockRestore();
  }
});

test('what is sorted in parts is sorted, and its parts are those of a list at hand', async () => {
  const places = Array.from({ length: 12_345 }, (_, index) => ({
    id: `i${String(index)}`,
    key: `k${String((index * 7_919) % 997)}`,
  }));
  let turns = 0;
  const sorted = await sortInParts(places, () => {
    turns += 1;
    return Promise.resolve();
  });
  expect(turns).toBeGreaterThan(3);
  const whole = { limit: places.length, sort: { by: 'key', order: 'ascending' } } as const;
  expect(sorted).toStrictEqual(partOf(places, whole, ({ key }) => key));
  for (const order of ['ascending', 'descending'] as const) {
    for (const { id, key } of [sorted[0], sorted[77], sorted.at(-1), { id: 'gone', key: 'k5' }].filter(
      (one) => one !== undefined,
    )) {
      const page = { limit: 7, after: id, sort: { by: 'key', order, afterKey: key } } as const;
      expect(sortedPartOf(sorted, page)).toStrictEqual(partOf(places, page, (place) => place.key));
    }
    const first = { limit: 7, sort: { by: 'key', order } } as const;
    expect(sortedPartOf(sorted, first)).toStrictEqual(partOf(places, first, (place) => place.key));
  }
});
