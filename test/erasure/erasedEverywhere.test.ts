import { beforeAll, expect, test } from '@jest/globals';
import { startFleet, type Fleet } from '../support/fleet.js';
import { createApi, mintToken, type Api, type ApiAnswer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** Two processes on one data folder: what one erases, the other shows no more. */

const folder = temporaryFolder();
let fleet: Fleet;
let one: Api;
let other: Api;
let tokens: readonly string[];

const emails = [0, 1, 2].map((index) => `annabella${String(index)}@erasable.example`);

beforeAll(async () => {
  const token = await mintToken(folder);
  tokens = await Promise.all(emails.map((email) => mintToken(folder, 'admin', email)));
  fleet = await startFleet(folder, ['api,projector', 'api']);
  await fleet.ready();
  [one, other] = fleet.addresses.map((address) => createApi(address, token)) as [Api, Api];
});

const idOf = ({ status, body }: ApiAnswer): string => {
  expect([status, body]).toEqual([201, expect.objectContaining({ id: expect.any(String) })]);
  return (body as { id: string }).id;
};

test('from the 204 of an erasure on, no process has the address in any answer', async () => {
  for (const [index, email] of emails.entries()) {
    const websiteId = idOf(await one.post('/websites', { name: 'Bakery', slug: `bakery-${String(index)}` }));
    const clientId = idOf(await one.post('/clients', { email, name: 'Annabella' }));
    const kept = { 'idempotency-key': email };
    const replay = (api: Api): Promise<ApiAnswer> => api.post(`/websites/${websiteId}/clients`, { email, role: 'editor' }, kept);
    expect((await replay(one)).status).toBe(201);
    const [address] = fleet.addresses;
    const own = createApi(address ?? '', tokens[index] ?? '');
    expect((await own.put(`/websites/${websiteId}/delivery`, {})).status).toBe(200);

    /** Every answer that names the person: as a client, invited, as an actor, in a stored response. */
    const answers = async (): Promise<readonly string[]> => {
      const paths = [
        `/clients/${clientId}`,
        '/clients',
        '/clients?q=annabella',
        `/clients?email=${email}`,
        `/websites/${websiteId}/clients`,
        `/websites/${websiteId}/delivery/history`,
        '/api-keys',
      ];
      const all = await Promise.all([...paths.map((path) => other.get(path)), replay(other)]);
      return all.map(({ body }) => JSON.stringify(body));
    };
    const named = (texts: readonly string[]): number => texts.filter((text) => text.includes(email)).length;
    expect(named(await answers())).toBeGreaterThanOrEqual(7);

    expect((await one.delete(`/clients/${clientId}`)).status).toBe(204);
    const after = await answers();
    expect(after.filter((text) => text.includes(email))).toEqual([]);
    // The answers are there, without the person.
    expect(after.filter((text) => text.includes('[erased]')).length).toBeGreaterThanOrEqual(2);
    expect((await createApi(fleet.addresses[1] ?? '', tokens[index] ?? '').get('/me')).status).toBe(401);
  }
});
