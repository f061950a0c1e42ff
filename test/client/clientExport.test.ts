import { beforeAll, expect, test } from '@jest/globals';
import { catalogue, personalFields, streams } from '../../src/events/catalogue.js';
import type { JsonObject } from '../../src/events/envelope.js';
import { confirmAddressChange } from '../../src/commands/client/addressChange.handlers.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { eventId } from '../../src/platform/ids.js';
import { readGolden } from '../support/golden.js';
import { clientFold } from '../../src/events/client/client.state.js';
import { accountsOf } from '../support/accounts.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { erasureOf } from '../support/process.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';

interface Exported {
  readonly client: { readonly id: string; readonly email: string; readonly name?: string };
  readonly addresses: readonly string[];
  readonly subjects: readonly string[];
  readonly websites: readonly object[];
  readonly invitations: readonly object[];
  readonly apiKeys: readonly { readonly id: string }[];
  readonly invoices: readonly object[];
  readonly mails: readonly object[];
  readonly eventsAbout: readonly { readonly type: string; readonly data: JsonObject }[];
  readonly eventsBy: readonly { readonly type: string; readonly actor: { readonly subject: string } }[];
}

let api: RunningApi;
let token: string;
const outbox = createTestOutbox({ folder: temporaryFolder() });

beforeAll(async () => {
  api = await startApi({ routes: (parts) => createRoutes({ ...parts, outbox }) });
  token = await api.mintToken();
});

const call = async (method: string, path: string, body?: unknown, by = token): Promise<ApiAnswer> => {
  const answer = await api.call(method, path, { token: by, ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer;
};
const made = async (path: string, body: unknown, by = token): Promise<string> =>
  ((await call('POST', path, body, by)).body as { id: string }).id;
const exported = async (id: string): Promise<Exported> => (await call('GET', `/clients/${id}/export`)).body as Exported;
const typesIn = (events: readonly { readonly type: string }[]): readonly string[] => events.map(({ type }) => type);

test('has everything that is kept about the person, and nobody else', async () => {
  const email = 'ada@export.example';
  const id = await made('/clients', { email, name: 'Ada Lovelace' });
  const other = await made('/clients', { email: 'grace@export.example', name: 'Grace Hopper' });
  const owned = await made('/websites', { name: 'Bakery', slug: 'bakery', clientId: id });
  const linked = await made('/websites', { name: 'Zoo', slug: 'zoo', clientId: other });
  await call('POST', `/websites/${linked}/clients`, { email, role: 'editor' });
  await call('POST', `/websites/${linked}/clients`, { email: 'newcomer@export.example', role: 'viewer' });
  await call('PATCH', `/clients/${id}`, { email: 'lovelace@export.example' });
  const [mailId, otherMailId] = [api.engine.ids.commandId(), api.engine.ids.commandId()];
  await outbox.send({ id: mailId, to: email, subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' });
  await outbox.send({ id: otherMailId, to: 'grace@export.example', subject: 'Other', html: '', text: '' });
  const own = await api.mintToken({ role: 'client', subject: 'idp|ada', verifiedEmail: email });
  const kept = await made('/api-keys', { name: 'kept' }, own);
  const gone = await api.mintToken({ role: 'client', subject: 'idp|ada-before', verifiedEmail: email });
  const revoked = await made('/api-keys', { name: 'revoked' }, gone);
  const first = ((await call('GET', '/api-keys?subject=idp%7Cada-before')).body as readonly { id: string }[]).at(-1);
  await call('DELETE', `/api-keys/${revoked}`);
  await call('DELETE', `/api-keys/${first?.id ?? ''}`);

  const answer = await call('GET', `/clients/${id}/export`);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="client-${id}.json"`);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const all = answer.body as Exported;
  expect(all).toMatchObject({
    exportedAt: expect.stringMatching(/^\d{4}-/),
    client: { id, email, name: 'Ada Lovelace', pendingEmail: 'lovelace@export.example' },
    addresses: [email, 'lovelace@export.example'],
    subjects: ['idp|ada'],
    websites: [
      { websiteId: owned, name: 'Bakery', slug: 'bakery', via: 'owner', role: 'editor' },
      { websiteId: linked, name: 'Zoo', slug: 'zoo', via: 'link', role: 'editor' },
    ],
    invitations: [],
    customers: [],
    invoices: [],
    mails: [{ id: mailId, to: email, subject: 'Hello' }],
  });
  expect(all.apiKeys.map((key) => key.id)).toContain(kept);
  expect(typesIn(all.eventsAbout)).toEqual(
    expect.arrayContaining(['ClientRegistered', 'WebsiteCreated', 'ClientLinked', 'ClientEmailChangeRequested', 'APIKeyMinted']),
  );
  // Also with the key that is revoked, of which no list tells any more.
  expect(new Set(all.eventsBy.map(({ actor: { subject } }) => subject))).toEqual(new Set(['idp|ada', 'idp|ada-before']));
  expect(typesIn(all.eventsBy)).toEqual(['APIKeyMinted', 'APIKeyMinted']);
  expect(answer.text).not.toMatch(/grace@|Grace|newcomer@|svc_pat_\w{13}|hash/);
});

test('has no mails to somebody else whose address they once asked for by mistake', async () => {
  const id = await made('/clients', { email: 'ada@mails.example' });
  const stateOf = async (clientId: string) => {
    const { state } = await api.engine.state(clientFold, { clientId });
    if (state.stage !== 'registered') throw new Error('no such client');
    return state;
  };
  const mail = async (to: string, subject: string, person?: string): Promise<string> => {
    const mailId = api.engine.ids.commandId();
    await outbox.send({ id: mailId, to, subject, html: '', text: '', ...(person !== undefined && { person }) });
    return mailId;
  };
  await call('PATCH', `/clients/${id}`, { email: 'bob@mails.example' });
  const [asked] = [...(await stateOf(id)).changes.values()];
  const confirmation = await mail('bob@mails.example', 'Confirm', asked?.email);
  await call('PATCH', `/clients/${id}`, { email: 'ada@mails.example' });
  const bob = await made('/clients', { email: 'bob@mails.example' });
  const toBob = await mail('bob@mails.example', 'You are invited', (await stateOf(bob)).email);
  const unnamedToBob = await mail('bob@mails.example', 'Your code');
  const toAda = await mail('ada@mails.example', 'Hello', (await stateOf(id)).email);
  const unnamedToAda = await mail('ada@mails.example', 'Your code');

  const mailsOf = async (clientId: string) => (await exported(clientId)).mails.map((one) => (one as { id: string }).id).sort();
  expect(await mailsOf(id)).toEqual([confirmation, toAda, unnamedToAda].sort());
  expect(await mailsOf(bob)).toEqual([toBob, unnamedToBob].sort());
});

test('of an owner has their invoices in the embedded ledger, also without a subscription, and of the websites before', async () => {
  const [ada, grace] = [
    await made('/clients', { email: 'ada@invoices.example' }),
    await made('/clients', { email: 'grace@invoices.example' }),
  ];
  const websiteId = await made('/websites', { name: 'Billed', slug: 'billed', clientId: ada });
  const invoice = (description: string) =>
    made(`/websites/${websiteId}/billing/invoices`, { total: 100, currency: 'eur', description });
  const [first, second] = [await invoice('March'), await invoice('April')];
  await call('PATCH', `/websites/${websiteId}`, { clientId: grace });
  const third = await invoice('May');
  const list = (await call('GET', `/invoices?websiteId=${websiteId}`)).body as readonly { id: string }[];
  const of = async (id: string) => (await exported(id)).invoices;
  expect(list.map(({ id }) => id)).toEqual([third, second, first]);
  expect(await of(ada)).toEqual(list.slice(1));
  expect(await of(grace)).toEqual(list.slice(0, 1));
});

test('of somebody who was invited has the invitation', async () => {
  const email = 'invited@export.example';
  const websiteId = await made('/websites', { name: 'Inn', slug: 'inn' });
  await call('POST', `/websites/${websiteId}/clients`, { email, role: 'viewer' });
  const own = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  const [invitation] = await invitationsOf(own);
  await call('POST', `/invitations/${invitation ?? ''}/claim`, undefined, own);
  const client = ((await call('GET', `/clients?email=${email}`)).body as readonly { id: string }[])[0]?.id ?? '';
  const all = await exported(client);
  expect(all.invitations).toMatchObject([{ websiteId, kind: 'client_access', status: 'accepted', email, role: 'viewer' }]);
  expect(all.subjects).toEqual([email]);
  expect(typesIn(all.eventsBy)).toEqual(expect.arrayContaining(['InvitationAccepted', 'ClientLinked']));
});

const invitationsOf = async (own: string): Promise<readonly string[]> =>
  ((await call('GET', '/me', undefined, own)).body as { invitations: readonly { id: string }[] }).invitations.map(({ id }) => id);

test('of a client who was linked and never claimed has what they did, signed in, also before a change of their address', async () => {
  const [email, next] = ['anna@accounts.example', 'anna.next@accounts.example'];
  const addresses = new Map([
    ['user-1', email],
    ['user-2', next],
  ]);
  const here = await startApi({ identityProvider: accountsOf(addresses) });
  const admin = await here.mintToken();
  const asAdmin = async (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    here.call(method, path, { token: admin, ...(body !== undefined && { body }) });
  const asAnna = (subject: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    here.call(method, path, { headers: { authorization: `Bearer ${subject}` }, ...(body !== undefined && { body }) });
  const clientId = ((await asAdmin('POST', '/clients', { email, name: 'Anna' })).body as { id: string }).id;
  const websiteId = ((await asAdmin('POST', '/websites', { name: 'Inn', slug: 'inn', tier: 'scale' })).body as { id: string }).id;
  await asAdmin('POST', `/websites/${websiteId}/clients`, { email, role: 'editor' });
  const recordOf = async () => (await asAdmin('GET', `/clients/${clientId}/export`)).body as Exported;
  expect((await recordOf()).subjects).toEqual(['user-1']);

  const save = (subject: string, x: number): Promise<ApiAnswer> =>
    asAnna(subject, 'PUT', `/websites/${websiteId}/blueprint`, { nodes: [{ id: 'hosting', x, y: 1 }] });
  const blueprint = `/websites/${websiteId}/blueprint`;
  const nodes = [{ id: 'hosting', x: 1, y: 1 }];
  const planned = await asAnna('user-1', 'PUT', `${blueprint}?dryRun=1`, { nodes });
  expect(planned.text).not.toContain('ClientSubjectBound');
  expect((await asAnna('user-1', 'POST', '/invitations/nothing/claim')).status).toBe(404);
  expect((await recordOf()).eventsAbout.map(({ type }) => type)).not.toContain('ClientSubjectBound');
  expect((await save('user-1', 1)).status).toBeLessThan(300);
  expect((await recordOf()).eventsAbout.map(({ type }) => type)).toContain('ClientSubjectBound');
  const { state } = await here.engine.state(clientFold, { clientId });
  if (state.stage !== 'registered') throw new Error('no such client');
  await asAdmin('PATCH', `/clients/${clientId}`, { email: next });
  const after = (await here.engine.state(clientFold, { clientId })).state;
  const [changeId = ''] = after.stage === 'registered' ? [...after.changes.keys()] : [];
  const context = {
    commandId: here.engine.ids.commandId(),
    actor: { subject: 'x', role: 'system', via: 'worker' },
    requestId: 'x',
  } as const;
  await confirmAddressChange(here.engine, erasureOf(here.engine), changeId, context);
  expect((await save('user-2', 2)).status).toBeLessThan(300);

  const all = await recordOf();
  expect([...all.subjects].sort()).toEqual(['user-1', 'user-2']);
  const changes = all.eventsBy.filter(({ type }) => type !== 'ClientSubjectBound');
  expect(new Set(changes.map(({ actor: { subject } }) => subject))).toEqual(new Set(['user-1', 'user-2']));
  const { body } = await asAdmin('GET', '/audit?limit=200');
  const names = (body as readonly { type: string; actor: { name?: string } }[]).filter(({ type }) => type === changes[0]?.type);
  expect(names.map(({ actor: { name } }) => name)).toEqual(['Anna', 'Anna']);
});

test('covers each type of event that has personal data, whatever area it is of', async () => {
  const email = 'everywhere@export.example';
  const id = await made('/clients', { email });
  const { engine } = api;
  const golden = readGolden();
  const personal = Object.entries(personalFields).filter(([, fields]) => fields.length > 0);
  for (const [type, fields] of personal) {
    const example = Object.values(golden[type] ?? {}).flatMap(({ examples }) => examples)[0];
    const data: Record<string, unknown> = { ...(example?.today ?? example?.stored) };
    for (const field of fields) data[field] = await engine.personal.encrypt(email, email);
    // Somebody else's, but for the personal data.
    for (const field of ['clientId', 'claimedBy']) if (field in data) data[field] = 'somebody-else';
    const category = streams.find(({ events }) => type in events)?.category ?? '';
    const stream = `${category}-of-a-test-${type}`;
    const commandId = engine.ids.commandId();
    const metadata = {
      at: new Date().toISOString(),
      actor: { subject: 'test', role: 'system', via: 'worker' },
      requestId: 'test',
      correlationId: commandId,
      causationId: commandId,
    } as const;
    const event = { ...catalogueEvent(type), id: eventId(commandId, stream, 0), data: data as JsonObject, metadata };
    await engine.eventStore.append(stream, [event], -1n);
  }
  const { eventsAbout } = await exported(id);
  expect([...new Set(typesIn(eventsAbout))].sort()).toEqual(
    [...new Set([...personal.map(([type]) => type), 'ClientRegistered'])].sort(),
  );
});

const catalogueEvent = (type: string): { type: string; schemaVersion: number } => ({
  type,
  schemaVersion: catalogue[type]?.schemaVersion ?? 0,
});

test('is not found for nobody, and for who was erased', async () => {
  const id = await made('/clients', { email: 'gone@export.example' });
  await call('DELETE', `/clients/${id}`);
  for (const unknown of [id, 'nobody']) {
    expect(await api.call('GET', `/clients/${unknown}/export`, { token })).toMatchObject({
      status: 404,
      body: { error: `Client ${unknown} does not exist` },
    });
  }
});
