import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { openCore, type OpenCore } from '../../src/compose/stores.js';
import { stepIds } from '../../src/events/provisioning/provisioning.events.js';
import { START } from '../../src/events/store/eventStore.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { projections } from '../../src/projections/catalogue.js';
import { rebuildProjection } from '../../src/projections/runner/rebuild.js';
import {
  createWebsite,
  expectAllThere,
  invite,
  nothingYet,
  relabel,
  type Acknowledged,
  type Website,
} from '../support/acknowledged.js';
import { eventually } from '../support/eventually.js';
import { createPatientApi, startFleet, type Fleet } from '../support/fleet.js';
import { chanceOf } from '../support/seeded.js';
import { createApi, mintToken, operate, type Api } from '../support/server.js';
import { inStorm } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';
import { freshFold, liveDocuments, untilReached } from '../support/things.js';

/**
 * Two processes of each role and one cron on one data folder: what one acknowledged, the others
 * know.
 */
const roles = ['api', 'api', 'projector', 'projector', 'worker', 'worker', 'cron'];
const kills = inStorm({ short: 3, gate: 12, long: 300 });
const websitesMade = inStorm({ short: 8, gate: 12, long: 80 });

const dataDir = temporaryFolder();
let fleet: Fleet;
let token: string;
let one: Api;
let other: Api;

beforeAll(async () => {
  token = await mintToken(dataDir);
  fleet = await startFleet(dataDir, roles);
  await fleet.ready();
  [one, other] = fleet.addresses.map((address) => createPatientApi(token, () => address)) as [Api, Api];
}, 60_000);

const create = async (slug: string): Promise<string> => {
  const { status, body } = await one.post('/websites', { name: slug, slug });
  expect(status).toBe(201);
  return (body as { id: string }).id;
};

describe('many processes on one data folder', () => {
  test('a website created at one is read and listed at the other at once', async () => {
    for (let index = 0; index < 5; index += 1) {
      const id = await create(`seen-${String(index)}`);
      expect((await other.get(`/websites/${id}`)).status).toBe(200);
      expect((await other.get('/websites?limit=1')).body).toMatchObject([{ id }]);
    }
  });

  test('of two concurrent requests for a slug one gets it', async () => {
    for (let index = 0; index < 5; index += 1) {
      const input = { name: 'Race', slug: `race-${String(index)}` };
      const answers = await Promise.all([one.post('/websites', input), other.post('/websites', input)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    }
  });

  test('of a claim at one and a revocation at the other exactly one succeeds, and the responses say which', async () => {
    const id = await create('claims');
    for (let round = 0; round < 6; round += 1) {
      const email = `guest-${String(round)}@example.com`;
      const guest = createApi(fleet.addresses[1] ?? '', await mintToken(dataDir, 'client', email));
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

  test('the operator’s scripts work while they run', async () => {
    const status = JSON.parse(await operate(dataDir, 'projectionStatus', ['--json'])) as { name: string; state: string }[];
    expect(status.map(({ state }) => state)).toEqual(status.map(() => 'live'));
    expect(await operate(dataDir, 'rebuildProjection', ['website'])).toMatch(/^website: version \S+ is live; \d+ events/);
    expect((await other.get('/websites?limit=200&q=seen')).body).toHaveLength(5);
    const id = await create('after-the-rebuild');
    expect((await other.get('/websites?limit=1')).body).toMatchObject([{ id }]);
  });

  test(`${String(kills)} of them are killed under load: nothing acknowledged is lost, nothing is done twice, no revoked access works`, async () => {
    const chance = chanceOf('manyProcesses');
    const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(chance() * items.length)] as Item;
    const api = createPatientApi(token, () => anyOf(fleet.addresses));
    const acknowledged = nothingYet();
    for (const slug of ['first', 'second']) await createWebsite(api, acknowledged, slug);

    let raging = true;
    const isOver = (): boolean => !raging;
    const lanes = [
      ...[0, 1].map((lane) => changeThings(api, acknowledged, lane, anyOf, isOver)),
      ...[0, 1].map(() => readThings(api, acknowledged, anyOf, isOver)),
      revokeThings(api, isOver),
    ];
    const storm = async (): Promise<void> => {
      for (let kill = 0; kill < kills && raging; kill += 1) {
        const before = writesOf(acknowledged);
        await pause(100 + chance() * 600);
        // On a busy machine the kills must not be faster than the work.
        await eventually('a write between two kills', () => writesOf(acknowledged) > before || !raging || undefined, 60_000);
        await anyOf(fleet.parts).strike();
      }
      raging = false;
    };
    const stormed = storm();
    // Ends after the last kill, or at once with the first error of a client.
    await Promise.all([stormed, ...lanes]).finally(() => {
      raging = false;
      return stormed;
    });

    await fleet.ready();
    await expectAllThere(one, await withOlder(one, acknowledged), dataDir);
    await expectAllThere(other, acknowledged, dataDir);
    const open = await openCore(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' }));
    try {
      await expectEachDoneOnce(open, acknowledged);
      await expectReadModelsRight(open);
    } finally {
      await open.close();
    }
  }, 600_000);

  test('each of them stops on SIGTERM', async () => {
    expect(await fleet.stop()).toEqual(roles.map(() => 0));
  }, 30_000);
});

/** The number of acknowledged writes. */
const writesOf = ({ websites, access, labels }: Acknowledged): number =>
  [...access.values(), ...labels.values()].reduce((sum, { size }) => sum + size, websites.size);

/** Writers: each changes websites until the end, and creates one now and then. */
const changeThings = async (
  api: Api,
  acknowledged: Acknowledged,
  lane: number,
  anyOf: <Item>(items: readonly Item[]) => Item,
  isOver: () => boolean,
): Promise<void> => {
  for (let step = 0; !isOver(); step += 1) {
    const unique = `${String(lane)}-${String(step)}`;
    const { id } = anyOf([...acknowledged.websites.values()]);
    if (step % 8 === 0 && acknowledged.websites.size < websitesMade) await createWebsite(api, acknowledged, unique);
    else if (step % 3 === 0) await invite(api, acknowledged, id, unique);
    else await relabel(api, acknowledged, id, unique);
  }
};

/** Readers: every process knows everything that was acknowledged before the request. */
const readThings = async (
  api: Api,
  acknowledged: Acknowledged,
  anyOf: <Item>(items: readonly Item[]) => Item,
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    const slugs = [...acknowledged.websites.keys()];
    const { id } = anyOf([...acknowledged.websites.values()]);
    const revision = acknowledged.revisions.get(id);
    const people = [...(acknowledged.access.get(id)?.keys() ?? [])];
    if (revision !== undefined) {
      const { status, body } = await api.get(`/websites/${id}/delivery`);
      expect(status).toBe(200);
      expect((body as { revision: number }).revision).toBeGreaterThanOrEqual(revision);
    }
    const { body: access } = await api.get(`/websites/${id}/clients`);
    const invited = (access as { invitations: { email: string }[] }).invitations.map(({ email }) => email);
    expect(invited).toEqual(expect.arrayContaining(people));
    const { body: list } = await api.get('/websites?limit=200');
    expect((list as Website[]).map(({ slug }) => slug)).toEqual(expect.arrayContaining(slugs));
  }
};

/** Access and tokens are granted and revoked. After the response no process accepts them. */
const revokeThings = async (api: Api, isOver: () => boolean): Promise<void> => {
  const email = 'anna@example.com';
  const { body: website } = await api.post('/websites', { name: 'Revoked', slug: 'revoked' });
  const { body: client } = await api.post('/clients', { email });
  const [{ id }, { id: clientId }] = [website as Website, client as { id: string }];
  const anna = await mintToken(dataDir, 'client', email);
  const everywhere = fleet.addresses.map((address) => createPatientApi(anna, () => address));
  const annaSees = async (): Promise<number[]> =>
    Promise.all(everywhere.map(async (at) => (await at.get(`/websites/${id}`)).status));

  while (!isOver()) {
    expect((await api.post(`/websites/${id}/clients`, { email, role: 'viewer' })).status).toBe(201);
    expect(await annaSees()).toEqual([200, 200]);
    // A retry after a lost response finds nothing to revoke.
    expect([204, 404]).toContain((await api.delete(`/websites/${id}/clients/${clientId}`)).status);
    expect(await annaSees()).toEqual([403, 403]);

    const { body } = (await everywhere[0]?.post('/api-keys', { name: 'short' })) ?? { body: null };
    const short = body as { id: string; token: string };
    const withShort = fleet.addresses.map((address) => createPatientApi(short.token, () => address));
    const shortSees = (): Promise<number[]> => Promise.all(withShort.map(async (at) => (await at.get('/me')).status));
    expect(await shortSees()).toEqual([200, 200]);
    expect([204, 404]).toContain(
      (await createPatientApi(anna, () => fleet.addresses[1] ?? '').delete(`/api-keys/${short.id}`)).status,
    );
    expect(await shortSees()).toEqual([401, 401]);
  }
};

/** Includes the websites of earlier tests, which the counts contain. */
const withOlder = async (api: Api, acknowledged: Acknowledged): Promise<Acknowledged> => {
  const { body } = await api.get('/websites?limit=200');
  for (const website of body as Website[]) acknowledged.websites.set(website.slug, website);
  return acknowledged;
};

/**
 * In the log each website is created and provisioned once, each step succeeds once, and no stream
 * has a gap.
 */
const expectEachDoneOnce = async ({ stores: { eventStore, codec } }: OpenCore, acknowledged: Acknowledged): Promise<void> => {
  const counts = new Map<string, number>();
  const heads = new Map<string, bigint>();
  for (let after = START; ;) {
    const { events, position } = await eventStore.readAll({ after });
    for (const stored of events) {
      expect([stored.stream, stored.revision]).toEqual([stored.stream, (heads.get(stored.stream) ?? -1n) + 1n]);
      heads.set(stored.stream, stored.revision);
      const { type, data } = codec.decode(stored);
      const { websiteId = '', step = '' } = data as { websiteId?: string; step?: string };
      const name = `${type} ${websiteId} ${step}`.trimEnd();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (position <= after) break;
    after = position;
  }
  for (const { id } of acknowledged.websites.values()) {
    const once = ['WebsiteCreated', 'ProvisioningQueued', 'ProvisioningSucceeded', 'WebsiteActivated'].map(
      (type) => `${type} ${id}`,
    );
    const steps = stepIds.map((step) => `ProvisioningStepSucceeded ${id} ${step}`);
    for (const name of [...once, ...steps]) expect([name, counts.get(name)]).toEqual([name, 1]);
  }
  expect([...counts.keys()].filter((name) => name.startsWith('ProvisioningFailed'))).toEqual([]);
};

/** Every read model equals a fold of the log, before and after a rebuild. */
const expectReadModelsRight = async ({ engine, stores }: OpenCore): Promise<void> => {
  const { eventStore, readModels, codec } = stores;
  const filled: string[] = [];
  for (const projection of projections) {
    await untilReached(projection, readModels, await eventStore.lastPosition({ types: projection.handles }));
    const kept = await liveDocuments(projection, readModels);
    expect(kept).toEqual(await freshFold(projection, eventStore, (stored) => codec.decode(stored), engine.personal));
    await rebuildProjection(projection.name, { ...engine, ...stores, projections, decode: (stored) => codec.decode(stored) });
    expect(await liveDocuments(projection, readModels)).toEqual(kept);
    if (kept.size > 0) filled.push(projection.name);
  }
  expect(filled).toEqual(expect.arrayContaining(['website', 'client', 'access', 'delivery', 'provisioning', 'apiKey']));
};
