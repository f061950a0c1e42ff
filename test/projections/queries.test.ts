import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addClient, changeAccess } from '../../src/commands/access/access.handlers.js';
import { addBooking } from '../../src/commands/booking/booking.handlers.js';
import { createClient, changeClient } from '../../src/commands/client/client.handlers.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { changeWebsite, createWebsite } from '../../src/commands/website/website.handlers.js';
import { UnknownEvent } from '../../src/events/codec.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { websiteRoleOf, websitesOfClient } from '../../src/projections/access/access.queries.js';
import { countBookings } from '../../src/projections/booking/booking.queries.js';
import { projections } from '../../src/projections/catalogue.js';
import { clientIdOf, clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { listClients } from '../../src/projections/client/client.queries.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { listWebsites } from '../../src/projections/website/website.queries.js';
import { startEngine, type EngineProcess } from '../support/engineProcess.js';
import { newEvent } from '../support/eventStoreEvents.js';
import { temporaryFolder } from '../support/temporary.js';
import { accessStream } from '../../src/events/access/access.stream.js';
import { websiteStream } from '../../src/events/website/website.stream.js';

let local: EngineProcess;
let other: EngineProcess;
let projector: Projector;

/**
 * A clock that never gives the same time twice, because ids of one millisecond have a random order.
 */
const strictlyIncreasingClock = (): Clock => {
  let last = 0;
  return { ...systemClock, now: () => (last = Math.max(last + 1, systemClock.now())) };
};

beforeEach(async () => {
  const folder = temporaryFolder();
  [local, other] = [await startEngine(strictlyIncreasingClock(), folder), await startEngine(systemClock, folder)];
  const { engine } = other;
  projector = createProjector({ ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
  await projector.start();
});

afterEach(() => projector.stop());

const newWebsite = async (slug: string, clientId?: string): Promise<string> => {
  const input = { name: `The ${slug}`, slug, templateId: 'business', tier: 'starter', collaborators: [], clientId } as const;
  return (await createWebsite(local.engine, input, local.context())).websiteId;
};

const newClient = (email: string, name?: string): Promise<string> => createClient(local.engine, { email, name }, local.context());

const link = async (websiteId: string, email: string, role: 'viewer' | 'editor' = 'viewer'): Promise<void> => {
  await addClient(local.engine, { websiteId, email, role }, local.context());
};

describe('websiteRoleOf', () => {
  test('an owner is an editor, a linked client has the role of the link, others have none', async () => {
    const [owner, viewer, editor] = [
      await newClient('o@x.example'),
      await newClient('v@x.example'),
      await newClient('e@x.example'),
    ];
    const id = await newWebsite('bakery', owner);
    await link(id, 'v@x.example');
    await link(id, 'e@x.example', 'editor');
    const roles = await Promise.all(
      [owner, viewer, editor, 'nobody'].map((clientId) => websiteRoleOf(other.engine, { id }, clientId)),
    );
    expect(roles).toEqual([
      { via: 'owner', role: 'editor' },
      { via: 'link', role: 'viewer' },
      { via: 'link', role: 'editor' },
      null,
    ]);
    expect(await websiteRoleOf(other.engine, { id: 'unknown' }, owner)).toBeNull();
  });

  test('revoked access is gone in every process, without a running projector', async () => {
    await projector.stop();
    const [first, second] = [await newClient('a@x.example'), await newClient('b@x.example')];
    const id = await newWebsite('bakery', first);
    await link(id, 'b@x.example');
    for (const { engine } of [local, other]) {
      expect(await websiteRoleOf(engine, { id }, first)).toMatchObject({ via: 'owner' });
      expect(await websiteRoleOf(engine, { id }, second)).toMatchObject({ via: 'link' });
    }
    await changeAccess(local.engine, { type: 'RemoveClient', websiteId: id, clientId: second }, local.context());
    await changeWebsite(local.engine, { websiteId: id, clientId: second }, local.context());
    for (const { engine } of [local, other]) {
      expect(await websiteRoleOf(engine, { id }, first)).toBeNull();
      expect(await websiteRoleOf(engine, { id }, second)).toMatchObject({ via: 'owner' });
    }
  });

  test.each([
    ['website', (websiteId: string) => websiteStream.name({ websiteId })],
    ['access', (websiteId: string, clientId: string) => accessStream.name({ websiteId, clientId })],
  ])('gives no role over an unknown event of the %s', async (_, streamOf) => {
    const clientId = await newClient('a@x.example');
    const id = await newWebsite('bakery');
    await link(id, 'a@x.example');
    const stream = streamOf(id, clientId);
    const { head } = await local.eventStore.readStream(stream);
    await local.eventStore.append(stream, [newEvent('AllAccessSuspended')], head);
    await expect(websiteRoleOf(other.engine, { id }, clientId)).rejects.toThrow(UnknownEvent);
  });

  test('gives no role by a stored document that skipped such an event', async () => {
    const owner = await newClient('o@x.example');
    const id = await newWebsite('bakery', owner);
    await local.eventStore.append(websiteStream.name({ websiteId: id }), [newEvent('WebsiteSold')], 0n);
    const renamed = { ...newEvent('WebsiteRenamed', { websiteId: id, name: 'Other' }) };
    await local.eventStore.append(websiteStream.name({ websiteId: id }), [renamed], 1n);
    const [listed] = await listWebsites(other.engine, { limit: 10 });
    expect(listed).toMatchObject({ name: 'Other', clientId: owner });
    await expect(websiteRoleOf(other.engine, { id }, owner)).rejects.toThrow(UnknownEvent);
  });

  test('gives no role when the log is unavailable', async () => {
    const owner = await newClient('o@x.example');
    const id = await newWebsite('bakery', owner);
    await websiteRoleOf(local.engine, { id }, owner);
    local.eventStore.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    await expect(websiteRoleOf(local.engine, { id }, owner)).rejects.toThrow(EventStoreUnavailable);
  });
});

describe('websitesOfClient', () => {
  test('lists what a client owns and is linked to, newest first, once each, without archived ones', async () => {
    const anna = await newClient('anna@x.example');
    const owned = await newWebsite('owned', anna);
    const linked = await newWebsite('linked');
    const archived = await newWebsite('archived', anna);
    await newWebsite('foreign');
    await link(linked, 'anna@x.example', 'editor');
    await local.engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId: archived }, local.context());
    const found = await websitesOfClient(local.engine, anna, { limit: 200 });
    expect(found.map(({ website, via, role }) => [website.id, via, role])).toEqual([
      [linked, 'link', 'editor'],
      [owned, 'owner', 'editor'],
    ]);
  });

  test("reads the client's own access and nobody else's, however many people a website has", async () => {
    const anna = await newClient('anna@x.example');
    const id = await newWebsite('bakery');
    await link(id, 'anna@x.example');
    for (let index = 0; index < 40; index += 1) await link(id, `guest-${index}@x.example`);
    const before = other.eventStore.reads.length;
    expect(await websitesOfClient(other.engine, anna, { limit: 200 })).toMatchObject([{ website: { id }, via: 'link' }]);
    const ofAccess = other.eventStore.reads.slice(before).filter(({ stream }) => stream.startsWith('access-'));
    expect(new Set(ofAccess.map(({ stream }) => stream))).toEqual(
      new Set([accessStream.name({ websiteId: id, clientId: anna })]),
    );
    expect(Math.max(...ofAccess.map(({ events }) => events))).toBe(1);
  });

  test('a removed link is gone at once', async () => {
    const anna = await newClient('anna@x.example');
    const linked = await newWebsite('linked');
    await link(linked, 'anna@x.example');
    await websitesOfClient(other.engine, anna, { limit: 200 });
    await changeAccess(local.engine, { type: 'RemoveClient', websiteId: linked, clientId: anna }, local.context());
    expect(await websitesOfClient(other.engine, anna, { limit: 200 })).toEqual([]);
  });
});

describe('lists', () => {
  test('websites, newest first, page by page', async () => {
    const ids = [await newWebsite('one'), await newWebsite('two'), await newWebsite('three')];
    const list = async (after?: string) =>
      (await listWebsites(local.engine, { limit: 2, ...(after !== undefined && { after }) })).map(({ id }) => id);
    expect(await list()).toEqual([ids[2], ids[1]]);
    expect(await list(ids[1])).toEqual([ids[0]]);
  });

  test('websites by status, owner, text and shelf', async () => {
    const anna = await newClient('anna@x.example');
    const [bakery, studio, gone] = [await newWebsite('bakery', anna), await newWebsite('studio'), await newWebsite('gone', anna)];
    await local.engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId: gone }, local.context());
    const found = async (query: Parameters<typeof listWebsites>[1]) =>
      (await listWebsites(other.engine, query)).map(({ id }) => id);
    expect(await found({ limit: 9 })).toEqual([studio, bakery]);
    expect(await found({ limit: 9, clientId: anna })).toEqual([bakery]);
    expect(await found({ limit: 9, clientId: anna, archived: true })).toEqual([gone]);
    expect(await found({ limit: 9, status: 'active' })).toEqual([]);
    expect(await found({ limit: 9, status: 'provisioning', q: 'STUD' })).toEqual([studio]);
    expect(await found({ limit: 9, q: 'thé ' })).toEqual([studio, bakery]);
    await local.engine.handle(websiteDecider, { type: 'RestoreWebsite', websiteId: gone }, local.context());
    expect(await found({ limit: 9, clientId: anna })).toEqual([gone, bakery]);
  });

  test('clients by text and address', async () => {
    const [anna, berta] = [await newClient('anna@x.example', 'Anna'), await newClient('berta@y.example')];
    await changeClient(local.engine, berta, { name: 'Berta X.' }, local.context());
    const found = async (query: Parameters<typeof listClients>[1]) =>
      (await listClients(other.engine, query)).map(({ id }) => id);
    expect(await found({ limit: 9 })).toEqual([berta, anna]);
    expect(await found({ limit: 1 })).toEqual([berta]);
    expect(await found({ limit: 9, after: berta })).toEqual([anna]);
    expect(await found({ limit: 9, q: 'berta x' })).toEqual([berta]);
    expect(await found({ limit: 9, q: 'x.' })).toEqual([berta, anna]);
    await changeClient(local.engine, anna, { name: 'Anna Großmüller' }, local.context());
    expect(await found({ limit: 9, q: 'GROSSMULLER' })).toEqual([anna]);
    expect(await found({ limit: 9, email: 'Anna@X.example' })).toEqual([anna]);
    expect(await found({ limit: 9, email: 'anna@x' })).toEqual([]);
  });
});

describe('countBookings', () => {
  test('counts those of one website that start then or later, and reads none of them', async () => {
    const book = (websiteId: string, start: string) =>
      addBooking(local.engine, { websiteId, title: 'Visit', start, end: '2031-01-01T00:00:00.000Z', kept: 0 }, local.context());
    for (const day of ['01', '02', '03', '04']) await book('w1', `2030-01-${day}T00:00:00.000Z`);
    await book('w2', '2030-01-03T00:00:00.000Z');
    const list = (): Promise<never> => Promise.reject(new Error('a booking is read'));
    expect(await countBookings({ ...other.engine, list }, 'w1', { from: '2030-01-03T00:00:00.000Z' })).toBe(2);
    expect(await countBookings({ ...other.engine, list }, 'w1', { from: '2030-01-03T00:00:00.001Z' })).toBe(1);
  });
});

describe('who a signed-in subject is', () => {
  test('the client that it is bound to, else the client of its verified address, else nobody', async () => {
    const anna = await newClient('anna@x.example');
    expect(await clientIdOf(other.engine, 'idp|anna', 'anna@x.example')).toBe(anna);
    expect(await clientIdOf(other.engine, 'idp|anna')).toBeUndefined();
    expect(await clientIdOf(other.engine, 'idp|anna', 'berta@x.example')).toBeUndefined();
  });

  test('an address of an interrupted creation is nobody yet', async () => {
    local.eventStore.appendFaults.push(
      (append) => append(),
      () => Promise.reject(new EventStoreUnavailable('the store is down')),
    );
    await expect(newClient('anna@x.example')).rejects.toThrow(EventStoreUnavailable);
    expect(await clientIdOfEmail(other.engine, 'anna@x.example')).toBeUndefined();
    const anna = await newClient('anna@x.example');
    expect(await clientIdOfEmail(other.engine, 'anna@x.example')).toBe(anna);
  });
});
