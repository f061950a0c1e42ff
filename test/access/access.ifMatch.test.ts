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
