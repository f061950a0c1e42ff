import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;
let path: string;
let count = 0;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken({ role: 'admin' });
});

beforeEach(async () => {
  count += 1;
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Roles', slug: `roles-${count}` } });
  path = `/websites/${(body as { id: string }).id}/clients`;
});

const link = async (name: string): Promise<{ readonly clientId: string; readonly etag: string }> => {
  const email = `${name}-${count}@example.com`;
  const { body } = await api.call('POST', '/clients', { token, body: { email } });
  return { clientId: (body as { id: string }).id, etag: etagOf(await add(email)) };
};
const add = (email: string) => api.call('POST', path, { token, body: { email, role: 'viewer' } });
const change = (clientId: string, role: string, etag?: string) =>
  api.call('PATCH', `${path}/${clientId}`, {
    token,
    body: { role },
    ...(etag !== undefined && { headers: { 'if-match': etag } }),
  });
const etagOf = ({ headers }: ApiAnswer): string => headers.get('etag') ?? 'none';

const stale = { status: 400, body: { error: 'Someone else saved while you were editing' } };

describe('a role is changed under If-Match', () => {
  test('of the link as it was made, and not once it has changed', async () => {
    const { clientId, etag } = await link('anna');
    const changed = await change(clientId, 'editor', etag);
    expect(changed).toMatchObject({ status: 200, body: { role: 'editor' } });
    expect(await change(clientId, 'viewer', etag)).toMatchObject(stale);
    expect(etagOf(changed)).not.toBe(etag);
    expect(await change(clientId, 'viewer', etagOf(changed))).toMatchObject({ status: 200, body: { role: 'viewer' } });
  });

  test("whatever has happened to other people's links since", async () => {
    const [anna, berta] = [await link('anna'), await link('berta')];
    expect(await change(berta.clientId, 'editor')).toMatchObject({ status: 200 });
    await add(`clara-${count}@example.com`);
    expect(await change(anna.clientId, 'editor', anna.etag)).toMatchObject({ status: 200, body: { role: 'editor' } });
  });

  test("of one's own link alone: another person's tag is none of it once they differ", async () => {
    const [anna, berta] = [await link('anna'), await link('berta')];
    const changed = await change(anna.clientId, 'editor', anna.etag);
    expect(await change(berta.clientId, 'editor', etagOf(changed))).toMatchObject(stale);
  });

  test('not under the tag of the list, which is of no single link', async () => {
    const { clientId } = await link('anna');
    expect(await change(clientId, 'editor', etagOf(await api.call('GET', path, { token })))).toMatchObject(stale);
  });
});

test('a link is removed under If-Match', async () => {
  const { clientId, etag } = await link('anna');
  const changed = etagOf(await change(clientId, 'editor'));
  const remove = (ifMatch: string) => api.call('DELETE', `${path}/${clientId}`, { token, headers: { 'if-match': ifMatch } });
  expect(await remove(etag)).toMatchObject(stale);
  expect((await remove(changed)).status).toBe(204);
});

test('an invitation is resent, claimed and revoked under If-Match', async () => {
  const email = `berta-${count}@example.com`;
  const invited = await add(email);
  const { id } = (invited.body as { invitation: { id: string } }).invitation;
  const invitation = `${path.replace('/clients', '/client-invitations')}/${id}`;
  const send = (method: string, to: string, ifMatch: string, as = token) =>
    api.call(method, to, { token: as, headers: { 'if-match': ifMatch } });
  const theirs = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  const read = await api.call('GET', `/invitations/${id}`, { token: theirs });
  const position = await api.engine.eventStore.lastPosition();
  for (const [method, to, as] of [
    ['POST', `${invitation}/resend`],
    ['DELETE', invitation],
    ['POST', `/invitations/${id}/claim`, theirs],
  ] as const) {
    expect(await send(method, to, '"7-x"', as)).toMatchObject(stale);
  }
  expect(await api.engine.eventStore.lastPosition()).toBe(position);
  const resent = await send('POST', `${invitation}/resend`, etagOf(invited));
  expect(resent.status).toBe(200);
  expect(await send('POST', `/invitations/${id}/claim`, etagOf(read), theirs)).toMatchObject(stale);
  expect((await send('POST', `/invitations/${id}/claim`, etagOf(resent), theirs)).status).toBe(200);
});

describe('what is not there is not found, whatever If-Match says', () => {
  const send = async (method: string, to: string, ifMatch: string, body?: object, as = token) =>
    (await api.call(method, to, { token: as, headers: { 'if-match': ifMatch }, ...(body !== undefined && { body }) })).status;
  const tags = ['"5-x"', '"nonsense"', '*'];

  test('a link that was removed', async () => {
    const { clientId, etag } = await link('anna');
    const to = `${path}/${clientId}`;
    expect(await send('DELETE', to, etag)).toBe(204);
    for (const tag of [etag, ...tags]) {
      expect([tag, await send('DELETE', to, tag), await send('PATCH', to, tag, { role: 'editor' })]).toEqual([tag, 404, 404]);
    }
  });

  test('an invitation that was revoked', async () => {
    const email = `berta-${count}@example.com`;
    const invited = await add(email);
    const { id } = (invited.body as { invitation: { id: string } }).invitation;
    const invitation = `${path.replace('/clients', '/client-invitations')}/${id}`;
    const theirs = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    expect(await send('DELETE', invitation, etagOf(invited))).toBe(204);
    for (const tag of [etagOf(invited), ...tags]) {
      expect([
        tag,
        await send('DELETE', invitation, tag),
        await send('POST', `${invitation}/resend`, tag),
        await send('POST', `/invitations/${id}/claim`, tag, undefined, theirs),
      ]).toEqual([tag, 404, 404, 404]);
    }
  });

  test('an offer that was withdrawn, an owner, a client', async () => {
    const email = `clara-${count}@example.com`;
    const client = await api.call('POST', '/clients', { token, body: { email } });
    const { id: clientId } = client.body as { id: string };
    const website = path.replace('/clients', '');
    const offered = await api.call('POST', `${website}/transfers`, { token, body: { email } });
    const offer = `${website}/transfers/${(offered.body as { id: string }).id}`;
    expect(await send('DELETE', offer, etagOf(offered))).toBe(204);
    const owned = await api.call('PATCH', website, { token, body: { clientId } });
    expect(await send('DELETE', `${website}/owner`, etagOf(owned))).toBe(204);
    expect(await send('DELETE', `/clients/${clientId}`, etagOf(client))).toBe(204);
    for (const tag of [etagOf(offered), etagOf(owned), etagOf(client), ...tags]) {
      expect([
        tag,
        await send('DELETE', offer, tag),
        await send('DELETE', `${website}/owner`, tag),
        await send('DELETE', `/clients/${clientId}`, tag),
      ]).toEqual([tag, 404, 404, 404]);
    }
  });
});
