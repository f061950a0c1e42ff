import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { eventually } from '../support/eventually.js';
import { createPatientApi, startFleet, type Fleet } from '../support/fleet.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createApi, operate, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Separate processes per role, which share only the stores of EVENT_STORE_URL and READ_MODEL_URL.
 */
forEachReadModelServer((server) => {
  describe(`the service on ${server.name} and a fake EventStoreDB`, () => {
    const dataDir = temporaryFolder();
    let log: FakeCluster;
    let environment: Readonly<Record<string, string>>;
    let fleet: Fleet;
    let token: string;
    let one: Api;
    let other: Api;

    beforeAll(async () => {
      log = await FakeCluster.start();
      environment = {
        EVENT_STORE_URL: log.url,
        READ_MODEL_URL: mongoDatabase(server),
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        HEALTH_PORT: '0',
      };
      fleet = await startFleet(dataDir, ['api', 'api', 'projector', 'worker'], environment);
      await fleet.ready();
      token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com'], environment);
      [one, other] = fleet.addresses.map((address) => createPatientApi(token, () => address)) as [Api, Api];
    });

    afterAll(() => {
      log.stop();
    });

    const create = async (slug: string): Promise<string> => {
      const { status, body } = await one.post('/websites', { name: slug, slug });
      expect([status, body]).toMatchObject([201, { slug }]);
      return (body as { id: string }).id;
    };

    const becomesActive = (id: string): Promise<unknown> =>
      eventually(
        'the website becoming active',
        async () => {
          const { body } = await other.get(`/websites/${id}`);
          return (body as { status?: string }).status === 'active' || undefined;
        },
        60_000,
      );

    test('a write at one process is read, listed and provisioned by the others', async () => {
      const id = await create('corner-bakery');
      expect((await other.get(`/websites/${id}`)).status).toBe(200);
      expect((await other.get('/websites')).body).toMatchObject([{ id }]);
      await becomesActive(id);
      expect((await fetch(`${fleet.addresses[1] ?? ''}/sites/corner-bakery/`)).status).toBe(200);
    });

    test('access revoked at one is refused by the other after the response', async () => {
      const id = await create('revoked');
      const { body: client } = await one.post('/clients', { email: 'anna@example.com' });
      const { id: clientId } = client as { id: string };
      const args = ['--role', 'client', '--subject', 'anna@example.com'];
      const anna = createApi(fleet.addresses[1] ?? '', await operate(dataDir, 'mintToken', args, environment));
      for (let round = 0; round < 5; round += 1) {
        expect((await one.post(`/websites/${id}/clients`, { email: 'anna@example.com', role: 'viewer' })).status).toBe(201);
        expect((await anna.get(`/websites/${id}`)).status).toBe(200);
        expect((await one.delete(`/websites/${id}/clients/${clientId}`)).status).toBe(204);
        expect((await anna.get(`/websites/${id}`)).status).toBe(403);
      }
    });

    test('the operator’s scripts use the same stores', async () => {
      const status = JSON.parse(await operate(dataDir, 'projectionStatus', ['--json'], environment)) as { state: string }[];
      expect(status.map(({ state }) => state)).toEqual(status.map(() => 'live'));
      expect(await operate(dataDir, 'rebuildProjection', ['website'], environment)).toMatch(/^website: version \S+ is live/);
      expect((await other.get('/websites')).body).toHaveLength(2);
    });

    test('while the event store is down, readiness names it and nothing is allowed; afterwards everything recovers by itself', async () => {
      log.stop();
      const readiness = async (): Promise<{ status: number; text: string }> => {
        const answer = await fetch(`${fleet.addresses[0] ?? ''}/readyz`);
        return { status: answer.status, text: await answer.text() };
      };
      expect(await readiness()).toMatchObject({ status: 503, text: expect.stringContaining('Not ready: event store: ') });
      const [asking, another] = fleet.addresses.map((address) => createApi(address, token)) as [Api, Api];
      const refused = await asking.post('/websites', { name: 'Away', slug: 'away' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      expect((await another.get('/me')).status).toBe(503);

      await log.restart();
      await becomesActive(await create('back'));
      await eventually('readiness', async () => ((await readiness()).status === 200 ? true : undefined));
      expect((await other.get('/websites')).body).toHaveLength(3);
    }, 120_000);

    test('each process stops on SIGTERM', async () => {
      expect(await fleet.stop()).toEqual([0, 0, 0, 0]);
    });
  });
});
