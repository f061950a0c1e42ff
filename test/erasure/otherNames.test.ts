import { beforeAll, expect, test } from '@jest/globals';
import { accessFold } from '../../src/events/access/access.state.js';
import { keyOfInvitation } from '../../src/events/access/access.stream.js';
import { apiKeyFold } from '../../src/events/apiKey/apiKey.state.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { hashAccessToken } from '../../src/platform/accessToken.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';

/** People who are known by more than their client's address: by a subject that is one, and by another one that was invited. */

let api: RunningApi;
let admin: string;
const outbox = createTestOutbox({ folder: temporaryFolder() });

beforeAll(async () => {
  api = await startApi({ routes: (parts) => createRoutes({ ...parts, outbox }), holders: [outbox] });
  admin = await api.mintToken();
});

const call = async (method: string, path: string, body?: unknown, token = admin): Promise<ApiAnswer> => {
  const answer = await api.call(method, path, { token, ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer;
};
const made = async (path: string, body: unknown): Promise<string> => ((await call('POST', path, body)).body as { id: string }).id;

const invite = async (websiteId: string, email: string): Promise<string> => {
  const { body } = await call('POST', `/websites/${websiteId}/clients`, { email, role: 'editor' });
  const { id } = (body as { invitation: { id: string } }).invitation;
  const key = keyOfInvitation(id) ?? { websiteId, clientId: '' };
  const person = (await api.engine.state(accessFold, key)).state.invitations.get(id)?.email ?? '';
  const mail = { to: email, subject: 'You are invited', html: email, text: email, person };
  await outbox.send({ id: api.engine.ids.commandId(), ...mail });
  return id;
};

const claim = async (invitationId: string, token: string): Promise<string> =>
  ((await call('POST', `/invitations/${invitationId}/claim`, undefined, token)).body as { link: { clientId: string } }).link
    .clientId;

/** Everything that an admin may read about people. */
const answers = async (websiteId: string): Promise<string> => {
  const paths = [
    '/audit?limit=200',
    `/websites/${websiteId}/delivery/readers`,
    `/websites/${websiteId}/clients`,
    '/outbox',
    '/clients',
  ];
  return (await Promise.all(paths.map((path) => call('GET', path)))).map(({ text }) => text).join('\n');
};

test('a subject that is an address, and an address that they were invited by, are erased with them and exported before', async () => {
  const [email, subject, second] = ['anna@names.example', 'Anna.Private@corp.example', 'anna.second@names.example'];
  const websiteId = await made('/websites', { name: 'Bakery', slug: 'bakery' });
  const other = await made('/websites', { name: 'Florist', slug: 'florist' });
  await call('PUT', `/websites/${websiteId}/delivery`, {});
  const anna = await api.mintToken({ role: 'client', subject, verifiedEmail: email });
  const clientId = await claim(await invite(websiteId, email), anna);
  await call('POST', `/websites/${websiteId}/delivery/seen`, { revision: 0 }, anna);
  // She has changed her address at the issuer, which still knows her as the same subject.
  const annaBySecond = await api.mintToken({ role: 'client', subject, verifiedEmail: second });
  const taken = await invite(other, second);
  expect(await claim(taken, annaBySecond)).toBe(clientId);
  const third = await made('/websites', { name: 'Third', slug: 'third' });
  await invite(third, second);
  // A token that is revoked by now, with a subject that never claimed anything.
  const unbound = await api.mintToken({ role: 'client', subject: 'anna.unbound@corp.example', verifiedEmail: email });
  const { key } = hashAccessToken(unbound);
  const { state } = await api.engine.state(apiKeyFold, { key });
  await call('DELETE', `/api-keys/${state.stage === 'none' ? '' : state.id}`);

  const exported = (await call('GET', `/clients/${clientId}/export`)).body as Readonly<Record<string, readonly unknown[]>>;
  expect(exported.addresses).toEqual([email, second]);
  expect(exported.subjects).toEqual(expect.arrayContaining([subject, 'anna.unbound@corp.example']));
  expect(exported.invitations).toEqual(expect.arrayContaining([expect.objectContaining({ id: taken, email: second })]));
  expect(exported.mails).toHaveLength(3);

  const before = await answers(websiteId);
  for (const text of [email, subject, second, 'anna.unbound']) expect(before).toContain(text);
  expect((await call('DELETE', `/clients/${clientId}`)).status).toBe(204);
  const after = await answers(websiteId);
  expect(after).not.toMatch(/anna|encrypted:/i);
  expect(after).toContain('[erased]');
  expect((await call('GET', `/websites/${other}/client-invitations/${taken}`)).text).not.toContain(second);
  expect((await call('GET', `/websites/${third}/clients`)).body).toMatchObject({ links: [], invitations: [] });
  for (const token of [anna, annaBySecond]) expect((await api.call('GET', '/me', { token })).status).toBe(401);

  // Whoever is invited by the address next is somebody else.
  await invite(third, second);
  expect((await call('GET', `/websites/${third}/clients`)).text).toContain(second);
});

test('an address that another client has stays readable, and so does that of a token that the person revoked as an admin', async () => {
  const [email, shared] = ['berta@names.example', 'carla@names.example'];
  const websiteId = await made('/websites', { name: 'Cinema', slug: 'cinema' });
  const berta = await api.mintToken({ role: 'client', subject: shared, verifiedEmail: email });
  const clientId = await claim(await invite(websiteId, email), berta);
  const carla = await made('/clients', { email: shared, name: 'Carla' });
  const bertaAsAdmin = await api.mintToken({ role: 'admin', subject: email, verifiedEmail: email });
  const dora = await api.mintToken({ role: 'client', subject: 'dora@corp.example', verifiedEmail: 'dora@names.example' });
  const doras = ((await call('GET', '/api-keys', undefined, dora)).body as readonly { id: string }[])[0]?.id ?? '';
  await call('DELETE', `/api-keys/${doras}`, undefined, bertaAsAdmin);

  await call('DELETE', `/clients/${clientId}`);
  expect((await call('GET', `/clients/${carla}`)).body).toMatchObject({ email: shared, name: 'Carla' });
  const audit = (await call('GET', '/audit?limit=200')).text;
  expect(audit).toContain('dora@corp.example');
  expect(audit).not.toContain(email);
});

test('an address that somebody else reads by now is theirs, though the client claimed an invitation to it once', async () => {
  const [email, office] = ['edda@names.example', 'office@names.example'];
  const websiteId = await made('/websites', { name: 'Dairy', slug: 'dairy' });
  const other = await made('/websites', { name: 'Museum', slug: 'museum' });
  const edda = await api.mintToken({ role: 'client', subject: 'idp|edda', verifiedEmail: email });
  const clientId = await claim(await invite(websiteId, email), edda);
  const eddaByOffice = await api.mintToken({ role: 'client', subject: 'idp|edda', verifiedEmail: office });
  expect(await claim(await invite(other, office), eddaByOffice)).toBe(clientId);
  const olga = await api.mintToken({ role: 'admin', subject: 'idp|olga', verifiedEmail: office });
  const third = ((await call('POST', '/websites', { name: 'Forge', slug: 'forge' }, olga)).body as { id: string }).id;
  const pending = await invite(third, office);

  const exported = (await call('GET', `/clients/${clientId}/export`)).text;
  for (const text of ['idp|olga', office, third, pending]) expect(exported).not.toContain(text);

  await call('DELETE', `/clients/${clientId}`);
  for (const token of [edda, eddaByOffice]) expect((await api.call('GET', '/me', { token })).status).toBe(401);
  expect((await call('GET', '/me', undefined, olga)).body).toMatchObject({ subject: 'idp|olga' });
  expect((await call('GET', `/websites/${third}/clients`)).body).toMatchObject({ invitations: [{ id: pending, email: office }] });
  expect((await call('GET', `/audit?websiteId=${third}`)).text).not.toContain('[erased]');
});
