import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

interface Node {
  readonly id: string;
  readonly state: string;
  readonly x: number;
  readonly y: number;
}

let api: RunningApi;
let token: string;
let websiteId: string;
let path: string;
let count = 0;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});
beforeEach(async () => {
  count += 1;
  const body = { name: 'Corner Bakery', slug: `bakery-${String(count)}`, tier: 'scale' };
  websiteId = ((await api.call('POST', '/websites', { token, body })).body as { id: string }).id;
  path = `/websites/${websiteId}/blueprint`;
});

const get = (): Promise<ApiAnswer> => api.call('GET', path, { token });
const put = (nodes: readonly object[], headers: Record<string, string> = {}): Promise<ApiAnswer> =>
  api.call('PUT', path, { token, body: { nodes }, headers });
const nodesIn = ({ body }: ApiAnswer): readonly Node[] => (body as { nodes: readonly Node[] }).nodes;
const etagOf = ({ headers }: ApiAnswer): string => headers.get('etag') ?? '';
const hosting = { id: 'hosting', x: 500, y: -20.5 };

describe('a blueprint', () => {
  test('shows the parts of a website before anybody has arranged it, none upon another', async () => {
    const answer = await get();
    expect(answer.body).toMatchObject({
      nodes: [
        { id: 'website', kind: 'website', label: 'Corner Bakery', state: 'pending', x: 0, y: 0 },
        { id: 'repository', kind: 'repository', state: 'pending', partOf: 'website' },
        { id: 'hosting', kind: 'hosting', state: 'pending', partOf: 'website' },
        { id: 'content', kind: 'content', state: 'ready', partOf: 'website' },
        { id: 'domains', kind: 'domains', state: 'off', partOf: 'hosting' },
        { id: 'services', kind: 'services', state: 'off', partOf: 'website' },
      ],
    });
    const places = nodesIn(answer).map(({ x, y }) => `${String(x)} ${String(y)}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test('follows the website: its domains, its services, its features', async () => {
    const domain = `www.bakery-${String(count)}.example`;
    await api.call('POST', `/websites/${websiteId}/domains`, { token, body: { domain } });
    const services = `/websites/${websiteId}/services`;
    await api.call('POST', services, { token, body: { kind: 'analytics', siteId: 'bakery.example' } });
    await api.call('PATCH', `/websites/${websiteId}`, { token, body: { features: ['blueprint'] } });
    const before = await get();
    expect(nodesIn(before)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'domains', state: 'pending' }),
        expect.objectContaining({ id: `domain:${domain}`, kind: 'domain', label: domain, state: 'pending', partOf: 'domains' }),
        expect.objectContaining({ id: 'services', state: 'ready' }),
        expect.objectContaining({ id: 'service:analytics', kind: 'service', label: 'analytics', partOf: 'services' }),
        expect.objectContaining({ id: 'content', state: 'off' }),
      ]),
    );
    expect((await put([{ id: `domain:${domain}`, x: 7, y: 8 }])).status).toBe(200);
    await api.call('DELETE', `/websites/${websiteId}/domains/${domain}`, { token });
    expect(nodesIn(await get()).map(({ id }) => id)).not.toContain(`domain:${domain}`);
    expect(etagOf(await get())).not.toBe(etagOf(before));
  });

  test('is arranged, and what is left out goes back to its place', async () => {
    const [initial, answer] = [await get(), await put([hosting])];
    expect(nodesIn(answer).find(({ id }) => id === 'hosting')).toMatchObject(hosting);
    expect((await get()).body).toEqual(answer.body);
    expect(etagOf(await get())).toBe(etagOf(answer));
    expect((await put([])).body).toEqual(initial.body);
  });

  test('gives nodes back that are no parts of the website, until they are left out', async () => {
    const own = { id: 'node-1', x: 10, y: 20 };
    const answer = await put([own, hosting]);
    expect(answer.status).toBe(200);
    expect(nodesIn(answer).at(-1)).toEqual({ ...own, kind: 'other', label: 'node-1', state: 'ready' });
    expect((await get()).body).toEqual(answer.body);
    expect(nodesIn(await put([hosting])).map(({ id }) => id)).not.toContain('node-1');
  });

  test('is arranged by one of two who have read the same', async () => {
    const match = { 'if-match': etagOf(await get()) };
    expect((await put([hosting], match)).status).toBe(200);
    expect(await put([{ ...hosting, x: 1 }], match)).toMatchObject({
      status: 400,
      body: { error: 'Someone else saved while you were editing', code: 'stale' },
    });
    expect((await put([{ ...hosting, x: 1 }], { 'if-match': etagOf(await get()) })).status).toBe(200);
    expect((await put([hosting], { 'if-match': '*' })).status).toBe(200);
  });

  test('that is only tried stays as it is', async () => {
    const before = await get();
    const tried = await api.call('PUT', `${path}?dryRun=1`, { token, body: { nodes: [hosting] } });
    expect(tried).toMatchObject({ status: 200, body: { events: [{ type: 'BlueprintArranged' }] } });
    expect(await get()).toMatchObject({ body: before.body });
  });

  test.each<[string, readonly object[], string]>([
    ['no id', [{ x: 1, y: 1 }], 'nodes.0.id: is required'],
    ['an id that is too long', [{ ...hosting, id: 'x'.repeat(301) }], 'nodes.0.id: must have at most 300 characters'],
    ['a node twice', [hosting, hosting], 'nodes.1.id: is there twice'],
    ['no place', [{ id: 'hosting', x: 1 }], 'nodes.0.y: is required'],
    ['a text for a place', [{ ...hosting, x: '1' }], 'nodes.0.x: must be a number'],
    ['a place beyond the world', [{ ...hosting, x: 1e9 }], 'nodes.0.x: must be at most 1000000'],
  ])('with %s is refused', async (_, nodes, issue) => {
    const answer = await put(nodes);
    expect(answer).toMatchObject({ status: 400 });
    expect((answer.body as { error: string }).error).toContain(`Invalid request body — ${issue}`);
  });

  test('needs its feature', async () => {
    await api.call('PATCH', `/websites/${websiteId}`, { token, body: { features: [] } });
    const off = { status: 403, body: { error: 'Website does not have the blueprint feature enabled' } };
    expect(await get()).toMatchObject(off);
    expect(await put([hosting])).toMatchObject(off);
  });
});
