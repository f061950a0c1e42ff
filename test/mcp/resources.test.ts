import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadCaller } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import { startAssistant, type Assistant } from '../support/assistant.js';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { connectTools } from '../support/toolServer.js';

let everybody: Everybody;
let admin: Assistant;
let viewer: Assistant;

beforeAll(async () => {
  everybody = await startEverybody();
  const { url } = everybody.api;
  [admin, viewer] = await Promise.all([
    startAssistant({ url, token: everybody.credentials.admin.token }),
    startAssistant({ url, token: everybody.credentials.viewer.token, era: '2025' }),
  ]);
});

const uri = 'doorstep://websites/bakery/status';

describe('a resource for each website', () => {
  test('is listed for whoever has access, and has what website_status answers', async () => {
    const { resources } = await admin.client.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual([uri, 'doorstep://websites/elsewhere/status']);
    expect((await viewer.client.listResources()).resources.map((resource) => resource.uri)).toEqual([uri]);

    for (const assistant of [admin, viewer]) {
      const { contents } = await assistant.client.readResource({ uri });
      const [content] = contents as { uri: string; mimeType: string; text: string }[];
      expect(content).toMatchObject({ uri, mimeType: 'application/json' });
      expect(JSON.parse(content?.text ?? '')).toEqual((await assistant.call('website_status', { website: 'bakery' })).data);
    }
  });

  test('is listed in pages, each website once', async () => {
    const agency = await startEverybody();
    const doorstep = new Doorstep({ baseUrl: agency.api.url, token: agency.credentials.admin.token });
    const caller = await loadCaller(doorstep);
    const names = Array.from({ length: 101 }, (_, index) => `shop-${String(index)}`);
    for (const slug of names) await doorstep.websites.create({ name: slug, slug });
    const { client } = await connectTools({ doorstep, caller });
    const list = (cursor: string) => client.request({ method: 'resources/list', params: { cursor } });

    const first = await client.request({ method: 'resources/list' });
    const second = await list(first.nextCursor ?? '');

    expect([first.resources.length, second.resources.length, second.nextCursor]).toEqual([100, 3, undefined]);
    expect([...first.resources, ...second.resources].map(({ name }) => name)).toEqual([
      ...names.reverse(),
      'bakery',
      'elsewhere',
    ]);
    await expect(list('nonsense')).rejects.toThrow('This cursor is none of this list');
  });

  test('completes slugs', async () => {
    const ask = async (assistant: Assistant, value: string) =>
      (
        await assistant.client.complete({
          ref: { type: 'ref/resource', uri: 'doorstep://websites/{slug}/status' },
          argument: { name: 'slug', value },
        })
      ).completion.values;

    expect(await ask(admin, 'else')).toEqual(['elsewhere']);
    expect(await ask(viewer, '')).toEqual(['bakery']);
    expect(await ask(viewer, 'else')).toEqual([]);
  });

  test('completes slugs beyond the first page of a client’s websites', async () => {
    const page = (slugs: readonly string[], next?: string): Response =>
      Response.json(
        slugs.map((slug) => ({ id: slug, slug, name: slug })),
        { headers: next === undefined ? {} : { link: `<http://127.0.0.1:1/v1/me/websites?cursor=${next}>; rel="next"` } },
      );
    const doorstep = new Doorstep({
      baseUrl: 'http://127.0.0.1:1',
      token: 'svc_pat_none',
      fetch: ({ url }) => Promise.resolve(url.includes('cursor=two') ? page(['zoo']) : page(['bakery', 'florist'], 'two')),
    });
    const { client } = await connectTools({ doorstep, caller: { subject: 'ana', role: 'client', scope: 'read' } });
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'doorstep://websites/{slug}/status' },
      argument: { name: 'slug', value: 'zo' },
    });
    expect(completion.values).toEqual(['zoo']);
  });

  test.each(['elsewhere', 'none'])('of a website that is not theirs (%s) is refused', async (slug) => {
    await expect(viewer.client.readResource({ uri: `doorstep://websites/${slug}/status` })).rejects.toThrow();
  });
});

describe('prompts', () => {
  test('an admin’s and a client’s', async () => {
    expect((await admin.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['weekly_update', 'whats_late']);
    expect((await viewer.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['weekly_update']);
  });

  test('name tools that there are, and complete slugs', async () => {
    const names = await admin.toolNames();
    for (const prompt of [{ name: 'weekly_update', arguments: { website: 'bakery' } }, { name: 'whats_late' }]) {
      const { messages } = await admin.client.getPrompt(prompt);
      const text = messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('\n');
      const called = text.match(/\b[a-z]+_[a-z]+\b/g) ?? [];
      expect(called.length).toBeGreaterThan(1);
      expect(called.filter((name) => !names.includes(name))).toEqual([]);
    }
    const { completion } = await admin.client.complete({
      ref: { type: 'ref/prompt', name: 'weekly_update' },
      argument: { name: 'website', value: 'bak' },
    });
    expect(completion.values).toEqual(['bakery']);
  });
});
