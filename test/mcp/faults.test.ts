import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadCaller, tools } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import type { Assistant } from '../support/assistant.js';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { connectTools } from '../support/toolServer.js';

let everybody: Everybody;
let doorstep: Doorstep;
let admin: Assistant;

beforeAll(async () => {
  everybody = await startEverybody();
  doorstep = new Doorstep({ baseUrl: everybody.api.url, token: everybody.credentials.admin.token });
  admin = await connectTools({ doorstep, caller: await loadCaller(doorstep) });
});

test('a service that does not say what a token may do is named as too old', async () => {
  const older = new Doorstep({
    baseUrl: everybody.api.url,
    token: everybody.credentials.admin.token,
    fetch: async (...request) => {
      const { credential: _, ...body } = (await (await fetch(...request)).json()) as { readonly credential?: object };
      return Response.json(body);
    },
  });
  await expect(loadCaller(older)).rejects.toThrow('The service does not say what the token may do');
});

describe('arguments', () => {
  test.each(tools.map(({ name }) => name))('of %s that there are not are refused, with those that there are', async (name) => {
    const answer = await admin.call(name, { dryRun: true });
    const { inputSchema } = (await admin.client.listTools()).tools.find((tool) => tool.name === name) ?? {};

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('Unrecognized key: "dryRun"') });
    expect(answer.text).toContain(`It takes: ${Object.keys(inputSchema?.properties ?? {}).join(', ')}.`);
    expect(inputSchema).toMatchObject({ additionalProperties: false });
  });

  test('that there are not leave everything as it is, within others and beside a confirmation too', async () => {
    const before = await doorstep.websites.delivery.get(everybody.websiteId);
    for (const [tool, args] of [
      ['set_checkpoint', { website: 'bakery', checkpoint: 'kickoff', status: 'done', dryRun: true }],
      ['plan_delivery', { website: 'bakery', checkpoints: [{ id: 'kickoff', status: 'done' }] }],
      ['plan_delivery', { website: 'bakery', remove: ['qa'], confirm: true, confirmation: 'yes' }],
    ] as const)
      expect(await admin.call(tool, args)).toMatchObject({ isError: true, text: expect.stringContaining('Unrecognized key') });
    expect(await doorstep.websites.delivery.get(everybody.websiteId)).toEqual(before);
  });

  test('that are missing or wrong are named', async () => {
    const answer = await admin.call('set_checkpoint', { website: 'bakery', status: 'finished' });

    expect(answer).toMatchObject({ isError: true, data: {} });
    expect(answer.text).toMatch(/checkpoint: .*; status: .*pending.* It takes: website, checkpoint, status\.$/);
  });

  test.each([
    [{ action: 'change' }, 'Nothing to change: give name, slug, tier, brandColor or redeploy.'],
    [{ action: 'change', redeploy: false }, 'Nothing to change'],
    [{ action: 'restore', name: 'Other' }, 'The action restore takes no name'],
  ])('of a change that would be none: %j', async (args, words) => {
    const before = await doorstep.websites.get(everybody.websiteId);
    const answer = await admin.call('change_website', { website: 'bakery', ...args });

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(words) });
    expect(await doorstep.websites.get(everybody.websiteId)).toEqual(before);
  });
});

describe('a refusal names the next step', () => {
  test.each<[string, string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'a feature that is off',
      'read_content',
      { website: 'elsewhere', kind: 'seo' },
      /seo feature enabled\. An admin can .*change_website/,
    ],
    [
      'a stranger to erase',
      'erase_client',
      { email: 'nobody@example.com' },
      /no client with this address\. explain_access lists/,
    ],
    [
      'an archived website',
      'give_access',
      { website: 'old', email: 'anna@example.com', role: 'viewer' },
      /is archived\. Restore it/,
    ],
    [
      'a website to delete that is not archived',
      'change_website',
      { website: 'elsewhere', action: 'delete' },
      /is not archived: archive it first\. change_website does that\.$/,
    ],
    [
      'a delivery before it was set up',
      'delivery_history',
      { website: 'bakery', at: '2001-03-01' },
      /^The delivery of bakery was not set up yet on 2001-03-01, 12:00 UTC\. .*delivery_history/,
    ],
    [
      'a delivery that was never set up',
      'delivery_history',
      { website: 'elsewhere', at: '2001-03-01' },
      /Call plan_delivery to set the delivery up/,
    ],
  ])('of %s', async (_, tool, args, words) => {
    if (args.website === 'old') {
      const { id } = await doorstep.websites.create({ name: 'Old', slug: 'old' });
      await doorstep.websites.archive(id);
    }
    expect(await admin.call(tool, args)).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });

  test('of what somebody else has saved meanwhile, by its code', async () => {
    const service = new Doorstep({
      baseUrl: 'http://127.0.0.1:1',
      token: 'svc_pat_none',
      fetch: ({ url }) =>
        Promise.resolve(
          url.includes('/search')
            ? Response.json({ websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] })
            : Response.json({ error: 'Another change came first', code: 'stale' }, { status: 400 }),
        ),
    });
    const editor = await connectTools({ doorstep: service, caller: { subject: 'ed', role: 'client', scope: 'write' } });

    expect(await editor.call('publish_website', { website: 'bakery', action: 'publish' })).toMatchObject({
      isError: true,
      text: 'Another change came first. Read it again, and base the change on what it is now.',
    });
  });
});

describe('a deployment that was asked for is told as it stands', () => {
  test.each([
    ['building', undefined, 'bakery is being built (d1). website_status shows its address.'],
    ['ready', undefined, 'The site of bakery is up to date (d1).'],
    ['failed', 'No index.html', 'The build of bakery failed (d1): its site shows what was before.'],
  ])('%s', async (status, error, words) => {
    const service = new Doorstep({
      baseUrl: 'http://127.0.0.1:1',
      token: 'svc_pat_none',
      fetch: ({ url }) =>
        Promise.resolve(
          Response.json(
            url.includes('/search')
              ? { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] }
              : { id: 'd1', status, createdAt: '2026-03-01T12:00:00.000Z', ...(error !== undefined && { error }) },
          ),
        ),
    });
    const editor = await connectTools({ doorstep: service, caller: { subject: 'ed', role: 'client', scope: 'write' } });

    for (const action of ['publish', 'rebuild']) {
      const { isError, text, data } = await editor.call('publish_website', { website: 'bakery', action });
      expect([isError, text.split('\n')[0], data]).toEqual([false, words, { slug: 'bakery', deployment: 'd1', status }]);
      if (error !== undefined) expect(text).toContain(error);
    }
  });
});

describe('what changed nothing is told as such', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['move_eta', {}, 'Nothing changed at bakery: '],
    ['plan_delivery', { showPreview: false }, 'Nothing changed at bakery: '],
  ])('%s', async (tool, args, words) => {
    const { estimatedCompletionAt, revision } = await doorstep.websites.delivery.get(everybody.websiteId);
    const answer = await admin.call(tool, { website: 'bakery', readyBy: estimatedCompletionAt, ...args });
    expect(answer).toMatchObject({ isError: false, text: expect.stringContaining(words), data: { delivery: { revision } } });
  });
});
