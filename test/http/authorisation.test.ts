import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AccessRule, Route } from '../../src/http/route.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { probe, ruled } from '../support/probeRoutes.js';
import { createRoutes } from '../../src/http/routes/index.js';

const rules: readonly AccessRule[] = ['public', 'signedIn', 'admin', 'members', 'adminOrOwner', 'editors', 'owner'];

/**
 * Another instance, on the same files, without a projector: what it lets through rests on no read
 * model.
 */
let api: RunningApi;
let admin: string;
let websiteId: string;
const tokens: Record<string, string> = {};
const clientIds: Record<string, string> = {};

interface Created {
  readonly id: string;
}

const post = async (path: string, body: unknown): Promise<Created> =>
  (await api.call('POST', path, { token: admin, body })).body as Created;
const get = (path: string, who: string): Promise<ApiAnswer> => api.call('GET', path, { token: tokens[who] ?? '' });

beforeAll(async () => {
  api = await startApi({
    routes: (parts) => [
      ...createRoutes(parts),
      ...ruled(rules),
      probe({ path: '/websites/:id/shop', scope: 'website', access: 'members', feature: 'commerce' }),
      probe({ path: '/websites/:id/text', scope: 'website', access: 'members', feature: 'content' }),
      probe({ method: 'post', path: '/websites/:id/write', scope: 'website', access: 'editors' }),
      probe({ method: 'post', path: '/websites/:id/revive', scope: 'website', access: 'admin', whenArchived: 'allowed' }),
      probe({
        path: '/websites/:id/standing',
        scope: 'website',
        access: 'members',
        answer: ({ website: { standing } }) => Promise.resolve({ body: standing }),
      }),
    ],
  });
  admin = await api.mintToken();
  tokens.admin = admin;
  for (const who of ['owner', 'editor', 'viewer', 'stranger']) {
    const email = `${who}@example.com`;
    tokens[who] = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    clientIds[who] = (await post('/clients', { email })).id;
  }
  tokens.unknown = await api.mintToken({ role: 'client', subject: 'unknown@example.com', verifiedEmail: 'unknown@example.com' });
  websiteId = (await post('/websites', { name: 'Bakery', slug: 'bakery', clientId: clientIds.owner })).id;
  await post(`/websites/${websiteId}/clients`, { email: 'editor@example.com', role: 'editor' });
  await post(`/websites/${websiteId}/clients`, { email: 'viewer@example.com', role: 'viewer' });
});

const stranger = (id: string): string => `Not authorized to access website ${id}`;

test.each<[AccessRule, Route['scope'], string]>([
  ['members', 'installation', '/websites/:id/lost'],
  ['members', 'website', '/lost'],
  ['admin', 'website', '/lost'],
])('a route for %s in the scope %s that names no website lets nobody in', async (access, scope, path) => {
  const lost = await startApi({ folder: api.folder, routes: () => [probe({ path, scope, access })], projector: false });
  expect((await lost.call('GET', path.replace(':id', websiteId), { token: admin })).status).toBe(500);
});

describe('who may call', () => {
  const table: readonly [AccessRule, Readonly<Record<string, number>>][] = [
    ['public', { admin: 200, owner: 200, editor: 200, viewer: 200, stranger: 200, unknown: 200 }],
    ['signedIn', { admin: 200, owner: 200, editor: 200, viewer: 200, stranger: 200, unknown: 200 }],
    ['admin', { admin: 200, owner: 403, editor: 403, viewer: 403, stranger: 403, unknown: 403 }],
    ['members', { admin: 200, owner: 200, editor: 200, viewer: 200, stranger: 403, unknown: 403 }],
    ['adminOrOwner', { admin: 200, owner: 200, editor: 403, viewer: 403, stranger: 403, unknown: 403 }],
    ['editors', { admin: 200, owner: 200, editor: 200, viewer: 401, stranger: 403, unknown: 403 }],
    ['owner', { admin: 403, owner: 200, editor: 403, viewer: 403, stranger: 403, unknown: 403 }],
  ];

  test.each(table)('%s', async (rule, expected) => {
    for (const [who, status] of Object.entries(expected)) {
      expect([who, (await get(`/websites/${websiteId}/${rule}`, who)).status]).toStrictEqual([who, status]);
    }
  });

  test.each<[AccessRule, string, string, string]>([
    ['admin', 'owner', 'Admin role required', 'admin_required'],
    ['admin', 'stranger', 'Admin role required', 'admin_required'],
    ['editors', 'viewer', 'Editor role required', 'editor_required'],
  ])('%s tells a %s: %s', async (rule, who, error, code) => {
    expect((await get(`/websites/${websiteId}/${rule}`, who)).body).toStrictEqual({ error, code, details: null });
  });

  test.each<[AccessRule, string]>([
    ['members', 'stranger'],
    ['editors', 'stranger'],
    ['adminOrOwner', 'editor'],
    ['owner', 'admin'],
  ])('%s tells a %s that the website is not theirs', async (rule, who) => {
    expect((await get(`/websites/${websiteId}/${rule}`, who)).body).toStrictEqual({
      error: stranger(websiteId),
      code: 'not_authorized_for_website',
      details: who === 'editor' ? { reason: "Probes is the owner's" } : null,
    });
  });

  test.each(rules.filter((rule) => rule !== 'public'))('%s: nobody who does not say who they are', async (rule) => {
    expect((await api.call('GET', `/v1/websites/${websiteId}/${rule}`)).body).toMatchObject({ error: 'Missing token' });
    expect((await api.call('GET', `/websites/${websiteId}/${rule}`)).body).toMatchObject({ error: 'No Authorization header' });
  });

  test.each(['members', 'adminOrOwner', 'editors', 'owner', 'admin'])('%s: an unknown website is 404', async (rule) => {
    expect((await get(`/websites/nope/${rule}`, 'admin')).body).toStrictEqual({
      error: 'Website nope not found',
      code: 'website_not_found',
      details: null,
    });
  });

  test('an unknown website is 404 for clients too, but not where they may not look', async () => {
    expect((await get('/websites/nope/members', 'owner')).status).toBe(404);
    expect((await get('/websites/nope/admin', 'owner')).status).toBe(403);
  });

  test.each(['admin', 'owner', 'editor', 'viewer'])('the handler is told that the caller is the website’s %s', async (who) => {
    expect((await get(`/websites/${websiteId}/standing`, who)).body).toBe(who);
  });
});

describe('what the website allows', () => {
  test.each(['admin', 'owner'])('a feature that is off is off for the %s', async (who) => {
    const answer = await get(`/websites/${websiteId}/shop`, who);
    expect(answer.status).toBe(403);
    expect(answer.body).toStrictEqual({
      error: 'Website does not have the commerce feature enabled',
      code: 'feature_off',
      details: null,
    });
  });

  test('one that is on is on, but not for strangers', async () => {
    expect((await get(`/websites/${websiteId}/text`, 'viewer')).status).toBe(200);
    expect((await get(`/websites/${websiteId}/text`, 'stranger')).body).toMatchObject({ error: stranger(websiteId) });
    expect((await get(`/websites/${websiteId}/shop`, 'stranger')).body).toMatchObject({ error: stranger(websiteId) });
  });

  test('an archived one refuses writes, not reads, nor what may be done to archived ones', async () => {
    const { id } = await post('/websites', { name: 'Old', slug: 'old', clientId: clientIds.owner });
    await post(`/websites/${id}/archive`, undefined);
    const write = await api.call('POST', `/websites/${id}/write`, { token: tokens.owner ?? '' });
    expect(write.status).toBe(400);
    expect(write.body).toStrictEqual({ error: `Website ${id} is archived`, code: 'website_archived', details: null });
    expect((await get(`/websites/${id}/members`, 'owner')).status).toBe(200);
    expect((await api.call('POST', `/websites/${id}/revive`, { token: admin })).status).toBe(200);
  });

  test('an archived one gives again what it answered before, and keeps no refusal for later', async () => {
    const { id } = await post('/websites', { name: 'Older', slug: 'older', clientId: clientIds.owner });
    const write = (key: string): Promise<ApiAnswer> =>
      api.call('POST', `/websites/${id}/write`, { token: tokens.owner ?? '', headers: { 'idempotency-key': key } });
    const first = await write('before');
    expect(first.status).toBe(200);
    await post(`/websites/${id}/archive`, undefined);
    const again = await write('before');
    expect([again.text, again.headers.get('idempotent-replayed')]).toStrictEqual([first.text, 'true']);
    expect((await write('after')).body).toMatchObject({ error: `Website ${id} is archived` });
    await post(`/websites/${id}/restore`, undefined);
    expect((await write('after')).status).toBe(200);
  });
});

describe('access that is taken away', () => {
  test('is gone with the answer, on an instance that has no projector', async () => {
    const other = await startApi({ folder: api.folder, routes: () => ruled(['members']), projector: false });
    const email = 'leaving@example.com';
    const leaving = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    const { id: clientId } = await post('/clients', { email });
    const seen = async (): Promise<number> =>
      (await other.call('GET', `/websites/${websiteId}/members`, { token: leaving })).status;

    expect(await seen()).toBe(403);
    await post(`/websites/${websiteId}/clients`, { email, role: 'viewer' });
    expect(await seen()).toBe(200);
    expect((await api.call('DELETE', `/websites/${websiteId}/clients/${clientId}`, { token: admin })).status).toBe(204);
    expect(await seen()).toBe(403);
    await other.stop();
  });

  test('nobody is let in when it cannot be asked: 503', async () => {
    const other = await startApi({ folder: api.folder, routes: () => ruled(['members']), projector: false });
    const token = tokens.viewer ?? '';
    await eventually('the first answer', async () => {
      const { status } = await other.call('GET', `/websites/${websiteId}/members`, { token });
      return status === 200 ? true : undefined;
    });
    await other.engine.eventStore.close();
    const answer = await other.call('GET', `/websites/${websiteId}/members`, { token });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});
