import { beforeAll, describe, expect, test } from '@jest/globals';
import { bindClientSubject } from '../../src/commands/client/client.handlers.js';
import { streamPrefix } from '../../src/events/defineStream.js';
import { START, type StoredEvent } from '../../src/events/store/eventStore.js';
import { viewingStream } from '../../src/events/viewing/viewing.stream.js';
import { accountsOf } from '../support/accounts.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let admin: string;
const tokens: Record<string, string> = {};
const ids: Record<string, string> = {};

const owner = 'owner@view.example';
const viewer = 'viewer@view.example';
const stranger = 'stranger@view.example';

const made = async (path: string, body: unknown): Promise<string> => {
  const answer = await api.call('POST', path, { token: admin, body });
  expect([200, 201]).toContain(answer.status);
  return (answer.body as { id: string }).id;
};

beforeAll(async () => {
  api = await startApi();
  admin = await api.mintToken();
  ids.owner = await made('/clients', { email: owner, name: 'Olga' });
  ids.viewer = await made('/clients', { email: viewer });
  ids.bakery = await made('/websites', { name: 'Bakery', slug: 'bakery', clientId: ids.owner, tier: 'scale' });
  ids.other = await made('/websites', { name: 'Other', slug: 'other' });
  await api.call('POST', `/websites/${ids.bakery}/clients`, { token: admin, body: { email: viewer, role: 'viewer' } });
  await api.call('PUT', `/websites/${ids.bakery}/delivery`, {
    token: admin,
    body: { previewUrlOverride: 'https://preview.example/' },
  });
  for (const email of [owner, viewer, stranger]) {
    tokens[email] = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  }
});

const as = (email: string, path: string, token = admin): Promise<ApiAnswer> =>
  api.call('GET', `${path}${path.includes('?') ? '&' : '?'}as=${encodeURIComponent(email)}`, { token });

const viewings = async (): Promise<readonly StoredEvent[]> => {
  const filter = { streamPrefixes: [streamPrefix(viewingStream)] };
  return (await api.engine.eventStore.readAll({ after: START, filter, max: 1_000 })).events;
};

describe('?as= answers as the person would be answered', () => {
  test.each([
    ['/me', owner],
    ['/me', viewer],
    ['/me', stranger],
    ['/me/websites?limit=1', owner],
    ['/websites/:bakery', owner],
    ['/websites/:bakery', viewer],
    ['/websites/:bakery', stranger],
    ['/websites/:other', owner],
    ['/websites/nowhere', owner],
    ['/websites', owner],
    ['/websites/:bakery/delivery', owner],
    ['/websites/:bakery/billing', viewer],
    ['/websites/:bakery/clients', owner],
    ['/websites/:bakery/clients', viewer],
    ['/websites/:bakery/bookings', viewer],
    ['/websites/:bakery/provisioning', viewer],
    ['/clients', viewer],
    ['/outbox', owner],
    ['/api-keys', owner],
    ['/api-keys?subject=ops@example.com', owner],
    ['/websites?limit=1000', owner],
    ['/me/websites?limit=1000', owner],
  ])('GET %s as %s', async (pattern, email) => {
    const path = pattern.replace(/:(\w+)/, (_, name: string) => String(ids[name]));
    const own = await api.call('GET', path, { token: tokens[email] ?? '' });
    const viewed = await as(email, path);
    // The person's own request is what tells when their key was last used, and which it is.
    const body = (answer: ApiAnswer): string =>
      answer.text.replaceAll(/"requestId":"[^"]*"|(?<="credential":\{"kind":"token","scope":"write")[^}]*/g, '');
    expect([viewed.status, body(viewed)]).toEqual([own.status, body(own)]);
  });

  test('in any letters', async () => {
    expect(await as('OWNER@View.example', '/me')).toMatchObject({
      status: 200,
      body: { email: owner, client: { id: ids.owner } },
    });
  });

  test('event streams too, as the person would get them', async () => {
    const { status, text } = await as(stranger, `/websites/${String(ids.bakery)}/provisioning/events`);
    expect([status, text]).toEqual([403, expect.stringContaining(`Not authorized to access website ${String(ids.bakery)}`)]);
    const abort = new AbortController();
    const address = `${api.url}/v1/websites/${String(ids.bakery)}/provisioning/events?as=${viewer}`;
    const stream = await fetch(address, { headers: { authorization: `Bearer ${admin}` }, signal: abort.signal });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let events = '';
    while (!events.includes('data: ')) events += (await reader?.read())?.value ?? '';
    abort.abort();
    expect(events).toContain('"status":"queued"');
  });

  test('nobody keeps the answer, which has its ETag', async () => {
    const { headers } = await as(owner, '/me');
    expect(headers.get('cache-control')).toBe('no-store');
    const known = await api.call('GET', `/me?as=${owner}`, {
      token: admin,
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(known.status).toBe(304);
  });
});

test('?as= of somebody with another address answers as whom they sign in as now', async () => {
  const [before, now] = ['anna@before.example', 'anna@now.example'];
  const here = await startApi({
    identityProvider: accountsOf(
      new Map([
        ['user-1', before],
        ['user-2', now],
      ]),
    ),
  });
  const ops = await here.mintToken();
  const { id } = (await here.call('POST', '/clients', { token: ops, body: { email: now } })).body as { id: string };
  await bindClientSubject(here.engine, id, 'user-1', {
    commandId: here.engine.ids.commandId(),
    actor: { subject: 'test', role: 'system', via: 'worker' },
    requestId: 'test',
  });
  const headers = { authorization: 'Bearer user-2' };
  const minted = (await here.call('POST', '/api-keys', { headers, body: { name: 'mine' } })).body as { id: string };
  for (const path of ['/me', '/api-keys']) {
    const own = await here.call('GET', path, { headers });
    const { body } = await here.call('GET', `${path}?as=${now}`, { token: ops });
    if (path === '/me') expect(body).toMatchObject({ subject: 'user-2', client: { id } });
    else expect([own.body, body]).toEqual([[expect.objectContaining({ id: minted.id })], own.body]);
  }
});

describe('?as= is refused', () => {
  test('to anybody but admins', async () => {
    for (const email of [owner, viewer, 'nonsense']) {
      expect(await as(email, '/me', tokens[owner])).toMatchObject({ status: 403, body: { error: 'Admin role required' } });
    }
    expect(await api.call('GET', `/me?as=${owner}`)).toMatchObject({ status: 401 });
  });

  test('without an address', async () => {
    for (const query of ['as=', 'as=nobody', `as=${owner}&as=${viewer}`]) {
      const { status, body } = await api.call('GET', `/me?${query}`, { token: admin });
      expect([status, (body as { error: string }).error]).toEqual([400, expect.stringMatching(/^Invalid query — as: /)]);
    }
  });

  test('on writes, by words', async () => {
    expect(await api.call('POST', `/clients?as=${owner}`, { token: admin, body: { email: 'new@view.example' } })).toMatchObject({
      status: 400,
      body: { error: 'Invalid query — as: works on GET only: nobody writes as somebody else', code: 'invalid_query' },
    });
  });

  test('where nobody signs in', async () => {
    expect((await as(owner, '/healthz')).status).toBe(400);
  });
});

describe('?as= is noted', () => {
  test('who looked as whom, where; the address encrypted, and nothing else is written', async () => {
    const before = await viewings();
    const last = await api.engine.eventStore.lastPosition();
    await as(owner, `/websites/${String(ids.bakery)}/clients?limit=7`);
    const added = (await viewings()).slice(before.length);
    expect(added).toMatchObject([
      {
        type: 'PersonViewed',
        data: { path: `/websites/${String(ids.bakery)}/clients`, websiteId: ids.bakery },
        metadata: { actor: { role: 'admin', via: 'token', tokenId: expect.any(String) } },
      },
    ]);
    const email = added[0]?.data.email as string;
    expect(email).toMatch(/^encrypted:/);
    expect(await api.engine.personal.decrypt(email)).toBe(owner);
    expect(await api.engine.eventStore.lastPosition()).toBe(added[0]?.position);
    expect(added[0]?.position).toBeGreaterThan(last);
  });

  test('of no website when the path is about something else', async () => {
    await as(owner, `/clients/${String(ids.owner)}`);
    const [note] = (await viewings()).slice(-1);
    expect(note?.data).toMatchObject({ path: `/clients/${String(ids.owner)}` });
    expect(note?.data).not.toHaveProperty('websiteId');
  });

  test('what was refused to the person too, but not what was refused to the caller', async () => {
    const before = (await viewings()).length;
    await as(stranger, `/websites/${String(ids.bakery)}`);
    await as(owner, '/me', tokens[owner]);
    await as('nonsense', '/me');
    expect((await viewings()).length).toBe(before + 1);
  });

  test('an erasure makes it unreadable', async () => {
    const email = 'gone@view.example';
    const id = await made('/clients', { email });
    await as(email, '/me');
    const [note] = (await viewings()).slice(-1);
    await api.call('DELETE', `/clients/${id}`, { token: admin });
    expect(await api.engine.personal.decrypt(note?.data.email as string)).toBeNull();
    expect(await as(email, '/me')).toMatchObject({ status: 200, body: { role: 'client', websites: [] } });
  });
});
