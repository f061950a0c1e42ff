import { beforeAll, describe, expect, test } from '@jest/globals';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import type { ApiAnswer } from '../support/http.js';

/** What a creation answers is read again at its `Location`. */
let everybody: Everybody;

beforeAll(async () => {
  everybody = await startEverybody();
});

const call = (method: string, path: string, body?: unknown, as: Person = 'admin'): Promise<ApiAnswer> =>
  everybody.api.call(method, path, { token: everybody.credentials[as].token, ...(body !== undefined && { body }) });
const ofSite = (path: string): string => `/websites/${everybody.websiteId}${path}`;
const refusal = ({ status, body }: ApiAnswer) => [status, (body as { error: string }).error];

interface Made {
  readonly path: string;
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const make = async (path: string, input: unknown): Promise<Made> => {
  const answer = await call('POST', path, input);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const location = /^\/v1(\/.*\/([^/]+))$/.exec(answer.headers.get('location') ?? '');
  if (location === null) throw new Error(`POST ${path} answered no Location`);
  const [, at = '', id = ''] = location;
  return { path: at, id, body: answer.body as Record<string, unknown> };
};

const linked = async (): Promise<Made> => {
  await call('POST', '/clients', { email: 'linked@example.com' });
  return make(ofSite('/clients'), { email: 'linked@example.com', role: 'viewer' });
};
const invoiced = () => make(ofSite('/billing/invoices'), { total: 4_900, currency: 'eur', description: 'March' });
const invited = () => make(ofSite('/clients'), { email: 'newcomer@example.com', role: 'editor' });
const offered = (email = 'heir@example.com') => make(ofSite('/transfers'), { email });
const booked = () =>
  make(ofSite('/bookings'), { title: 'Tasting', start: '2030-01-31T12:00:00.000Z', end: '2030-01-31T13:00:00.000Z' });
const attached = () => make(ofSite('/services'), { kind: 'analytics', siteId: 'bakery.example.com' });
const minted = () => make('/api-keys', { name: 'Report' });

const creations: Readonly<
  Record<string, { create: () => Promise<Made>; missing: (id: string) => string; shown?: (body: Made['body']) => unknown }>
> = {
  'an invoice': { create: invoiced, missing: (id) => `Invoice ${id} not found` },
  'a link': {
    create: linked,
    missing: (id) => `Client ${id} is not linked to website ${everybody.websiteId}`,
    shown: ({ link }) => link,
  },
  'an invitation': { create: invited, missing: (id) => `Invitation ${id} not found`, shown: ({ invitation }) => invitation },
  'a transfer': { create: () => offered(), missing: () => 'Pending transfer not found' },
  'a booking': { create: booked, missing: (id) => `Booking ${id} not found` },
  'a service': { create: attached, missing: (id) => `Service ${id} not found` },
  'a key': { create: minted, missing: (id) => `API key ${id} not found`, shown: ({ token: _, ...key }) => key },
};

describe.each(Object.entries(creations))('%s', (_, { create, missing, shown = (body) => body }) => {
  test('is read at its Location, with an ETag; an unknown one, or one that is taken back, is not', async () => {
    const { path, id, body } = await create();
    const read = await call('GET', path);
    expect([read.status, read.body]).toEqual([200, shown(body)]);
    const etag = read.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    const { token } = everybody.credentials.admin;
    expect((await everybody.api.call('GET', path, { token, headers: { 'if-none-match': etag } })).status).toBe(304);

    expect(refusal(await call('GET', `${path.slice(0, -id.length)}unknown`))).toEqual([404, missing('unknown')]);
    // An invoice cannot be deleted.
    if (path.includes('/invoices/')) return;
    expect((await call('DELETE', path)).status).toBe(204);
    expect(refusal(await call('GET', path))).toEqual([404, missing(id)]);
  });
});

test('what belongs to another website is not found', async () => {
  const other = ((await call('POST', '/websites', { name: 'Shop', slug: 'shop', tier: 'scale' })).body as { id: string }).id;
  for (const create of [invoiced, linked, invited, () => offered(), booked, attached]) {
    const { path } = await create();
    const elsewhere = path.replace(everybody.websiteId, other);
    expect([elsewhere, (await call('GET', elsewhere)).status]).toEqual([elsewhere, 404]);
  }
});

test('a transfer is no invitation of a client, and the other way round', async () => {
  const [offer, invitation] = [(await offered('buyer@example.com')).id, everybody.invitationId];
  expect(refusal(await call('GET', ofSite(`/client-invitations/${offer}`)))).toEqual([404, `Invitation ${offer} not found`]);
  expect(refusal(await call('GET', ofSite(`/transfers/${invitation}`)))).toEqual([404, 'Pending transfer not found']);
});

test('an owner reads their own invoices alone, and who is linked', async () => {
  const { path, id, body } = await invoiced();
  expect((await call('GET', path, undefined, 'owner')).body).toEqual(body);
  await call('POST', '/clients', { email: 'successor@example.com' });
  const [{ id: clientId = '' } = {}] = (await call('GET', '/clients?email=successor@example.com')).body as { id?: string }[];
  expect((await call('PATCH', ofSite(''), { clientId })).status).toBe(200);
  const token = await everybody.api.mintToken({ role: 'client', subject: 'next', verifiedEmail: 'successor@example.com' });
  expect(refusal(await everybody.api.call('GET', path, { token }))).toEqual([404, `Invoice ${id} not found`]);
  expect((await call('GET', path)).status).toBe(200);
  expect((await everybody.api.call('GET', ofSite(`/clients/${everybody.clientIds.editor}`), { token })).body).toMatchObject({
    email: 'editor@example.com',
    role: 'editor',
  });
  expect((await call('PATCH', ofSite(''), { clientId: everybody.clientIds.owner })).status).toBe(200);
});

test('the tag of a link is the one that a change of its role compares with', async () => {
  const path = ofSite(`/clients/${everybody.clientIds.editor}`);
  const { token } = everybody.credentials.admin;
  const headers = { 'if-match': (await call('GET', path)).headers.get('etag') ?? '' };
  const change = (role: string) => everybody.api.call('PATCH', path, { token, headers, body: { role } });
  expect((await change('viewer')).status).toBe(200);
  expect(refusal(await change('editor'))).toEqual([400, 'Someone else saved while you were editing']);
  await call('PATCH', path, { role: 'editor' });
});

test('a key is read by its owner, when it is of their role, and by admins', async () => {
  const mint = async (token: string) =>
    ((await everybody.api.call('POST', '/api-keys', { token, body: { name: 'Own' } })).body as { id: string }).id;
  const own = await mint(everybody.credentials.editor.token);
  const read = (id: string, as: Person) => call('GET', `/api-keys/${id}`, undefined, as);
  expect((await read(own, 'editor')).body).toMatchObject({ id: own, name: 'Own', role: 'client' });
  expect((await read(own, 'admin')).status).toBe(200);
  expect(refusal(await read(own, 'viewer'))).toEqual([404, `API key ${own} not found`]);
  expect(refusal(await read(everybody.apiKeyId, 'editor'))).toEqual([404, `API key ${everybody.apiKeyId} not found`]);
  // The admin's own key of the higher role, asked for as a client.
  const asClient = await everybody.api.mintToken({ role: 'client', subject: 'admin' });
  const refused = await everybody.api.call('GET', `/api-keys/${everybody.apiKeyId}`, { token: asClient });
  expect(refusal(refused)).toEqual([404, `API key ${everybody.apiKeyId} not found`]);
});
