import { beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { createApi, mintToken, operate, startServer, type Api, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** Two servers on one data folder: whatever one of them answered, the other knows. */
describe('two processes on one data folder', () => {
  const dataDir = temporaryFolder();
  let servers: readonly ServerProcess[];
  let one: Api;
  let other: Api;

  beforeAll(async () => {
    servers = await Promise.all([startServer(dataDir), startServer(dataDir)]);
    const token = await mintToken(dataDir);
    [one, other] = servers.map(({ address }) => createApi(address, token)) as [typeof one, typeof one];
  }, 60_000);

  afterAll(async () => {
    expect(await Promise.all(servers.map((server) => server.kill('SIGTERM')))).toEqual([0, 0]);
  });

  const create = async (slug: string): Promise<string> => {
    const { status, body } = await one.post('/websites', { name: slug, slug });
    expect(status).toBe(201);
    return (body as { id: string }).id;
  };

  test('a website that one created is read and listed by the other at once', async () => {
    for (let index = 0; index < 20; index += 1) {
      const id = await create(`seen-${String(index)}`);
      expect((await other.get(`/websites/${id}`)).status).toBe(200);
      const { body } = await other.get('/websites?limit=1');
      expect(body).toMatchObject([{ id }]);
    }
  });

  test('a slug goes to one of two who ask at the same moment', async () => {
    for (let index = 0; index < 10; index += 1) {
      const wish = { name: 'Race', slug: `race-${String(index)}` };
      const statuses = (await Promise.all([one.post('/websites', wish), other.post('/websites', wish)])).map(
        ({ status }) => status,
      );
      expect(statuses.sort()).toEqual([201, 400]);
    }
  });

  test('access that was taken away at one is refused by the other from the answer on, and so is a revoked token', async () => {
    const id = await create('revoked');
    const { body: client } = await one.post('/clients', { email: 'anna@example.com' });
    const { id: clientId } = client as { id: string };
    const anna = await mintToken(dataDir, 'client', 'anna@example.com');
    const [, second] = servers;
    const annaAtOther = createApi(second?.address ?? '', anna);
    for (let round = 0; round < 10; round += 1) {
      expect((await one.post(`/websites/${id}/clients`, { email: 'anna@example.com', role: 'viewer' })).status).toBe(201);
      expect((await annaAtOther.get(`/websites/${id}`)).status).toBe(200);
      expect((await one.delete(`/websites/${id}/clients/${clientId}`)).status).toBe(204);
      expect((await annaAtOther.get(`/websites/${id}`)).status).toBe(403);
    }

    const { body: keys } = await annaAtOther.get('/api-keys');
    const [key] = keys as { id: string }[];
    const annaAtOne = createApi(servers[0]?.address ?? '', anna);
    expect((await annaAtOne.delete(`/api-keys/${key?.id ?? ''}`)).status).toBe(204);
    const refused = await annaAtOther.get('/me');
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({ error: 'Invalid token' });
  });

  test('a claim at one and a revocation at the other: exactly one wins, and the answers say which', async () => {
    const id = await create('claims');
    for (let round = 0; round < 10; round += 1) {
      const email = `guest-${String(round)}@example.com`;
      const guest = createApi(servers[1]?.address ?? '', await mintToken(dataDir, 'client', email));
      const { body } = await one.post(`/websites/${id}/clients`, { email, role: 'viewer' });
      const { id: invitationId } = (body as { invitation: { id: string } }).invitation;
      const [claimed, revoked] = await Promise.all([
        guest.post(`/invitations/${invitationId}/claim`),
        one.delete(`/websites/${id}/client-invitations/${invitationId}`),
      ]);
      expect([
        [200, 404],
        [404, 204],
      ]).toContainEqual([claimed.status, revoked.status]);
      expect((await guest.get(`/websites/${id}`)).status).toBe(claimed.status === 200 ? 200 : 403);
    }
  }, 60_000);

  test('the scripts of the operator work beside them', async () => {
    const status = JSON.parse(await operate(dataDir, 'projectionStatus', ['--json'])) as { name: string; state: string }[];
    expect(status.map(({ state }) => state)).toEqual(status.map(() => 'live'));
    expect(await operate(dataDir, 'rebuildProjection', ['website'])).toMatch(/^website: version \S+ is live; \d+ events/);
    const { body } = await other.get('/websites?limit=200&q=seen');
    expect(body).toHaveLength(20);
    const id = await create('after-the-rebuild');
    expect((await other.get('/websites?limit=1')).body).toMatchObject([{ id }]);
  });
});
