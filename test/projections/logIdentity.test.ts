import { afterEach, describe, expect, test } from '@jest/globals';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import { logStream } from '../../src/events/log/log.stream.js';
import { EventStoreUnavailable, type EventStore } from '../../src/events/store/eventStore.js';
import { systemClock as clock } from '../../src/platform/clock.js';
import { systemRandom as random } from '../../src/platform/random.js';
import { projections } from '../../src/projections/catalogue.js';
import { guardLogIdentity, OtherLog } from '../../src/projections/runner/logIdentity.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { ReadModelDropped, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { createFaultyEventStore } from '../support/faultyEventStore.js';
import { someAdmin } from '../support/given.js';
import { newEvent } from '../support/eventStoreEvents.js';
import { engineOn, openStores, type Stores } from '../workers/engines.js';

const codec = createCodec(catalogue);
const guardOf = ({ eventStore, readModels }: Pick<Stores, 'eventStore' | 'readModels'>) =>
  guardLogIdentity({ eventStore, readModels, projections, clock, random });

const namesOf = async (eventStore: EventStore): Promise<readonly string[]> =>
  (await eventStore.readStream(logStream.name({}))).events.map(({ type }) => type);

const working: Projector[] = [];
afterEach(async () => {
  for (const projector of working.splice(0)) await projector.stop();
});

/** Stores with websites, and read models without a log identity, as earlier versions left them. */
const earlierStores = async (websites: number): Promise<Stores> => {
  const stores = await openStores();
  const engine = engineOn(stores);
  for (let index = 0; index < websites; index += 1) {
    const input = {
      name: 'x',
      slug: `site-${String(index)}`,
      templateId: 'business',
      tier: 'starter',
      collaborators: [],
    } as const;
    await createWebsite(engine, input, { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
  }
  const projector = createProjector({ ...engine, projections, decode: (stored) => codec.decode(stored) });
  working.push(projector);
  await projector.start();
  const end = await stores.eventStore.lastPosition();
  for (const { name, version, indexes } of projections) {
    const model = { name, version: String(version), indexes };
    expect(await stores.readModels.reached(model, end, AbortSignal.timeout(5_000))).toBe(true);
  }
  return stores;
};

describe('read models', () => {
  test('go on with their own log, which gets one identity', async () => {
    const stores = await openStores();
    await guardOf(stores).verify();
    await guardOf(stores).verify();
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
  });

  test('of another log: nothing is read from this one, and nothing is written to it', async () => {
    const { readModels } = await openStores();
    const [own, other] = [await openStores(), await openStores()];
    await guardOf({ eventStore: own.eventStore, readModels }).verify();
    const { eventStore } = guardOf({ eventStore: other.eventStore, readModels });
    const calls = [
      () => eventStore.append('website-1', [newEvent()], -1n),
      () => eventStore.readStream('website-1'),
      () => eventStore.readAll({ after: 0n }),
      () => eventStore.lastPosition(),
      async () => {
        for await (const slice of eventStore.subscribe({ after: 0n, signal: AbortSignal.timeout(5_000) })) return slice;
        return null;
      },
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(OtherLog);
    expect((await other.eventStore.readAll({ after: 0n })).events.map(({ type }) => type)).toStrictEqual(['LogNamed']);
  });

  test('without an identity, as earlier versions left them, take that of the log that they were made from', async () => {
    const stores = await earlierStores(2);
    await guardOf(stores).verify();
    const other = await earlierStores(5);
    await expect(guardOf({ ...stores, eventStore: other.eventStore }).verify()).rejects.toThrow(OtherLog);
    await guardOf(stores).verify();
  });

  test('are checked again when another version of them is published meanwhile', async () => {
    const stores = await earlierStores(2);
    let drops = 0;
    const checkpoint: ReadModelStore['checkpoint'] = (model) => {
      drops += 1;
      return drops === 2 ? Promise.reject(new ReadModelDropped(model)) : stores.readModels.checkpoint(model);
    };
    await guardOf({ ...stores, readModels: { ...stores.readModels, checkpoint } }).verify();
    expect(drops).toBeGreaterThan(2);
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
  });

  test.each([
    ['shorter', 1],
    ['longer', 5],
  ])('without an identity do not take that of a %s log', async (_, websites) => {
    const stores = await earlierStores(2);
    const { eventStore } = await earlierStores(websites);
    await expect(guardOf({ ...stores, eventStore }).verify()).rejects.toThrow(OtherLog);
    await guardOf(stores).verify();
  });

  test('that many processes begin at once belong to one log', async () => {
    const stores = await openStores();
    await Promise.all(Array.from({ length: 8 }, () => guardOf(stores).verify()));
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);

    const { readModels } = await openStores();
    const logs = await Promise.all([openStores(), openStores(), openStores()]);
    const begun = await Promise.allSettled(logs.map(({ eventStore }) => guardOf({ eventStore, readModels }).verify()));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of begun) if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(OtherLog);
  });
});

test('a log that is unavailable at the start is verified when it is back', async () => {
  const { readModels } = await openStores();
  const [own, other] = [await openStores(), await openStores()];
  await guardOf({ eventStore: own.eventStore, readModels }).verify();

  for (const [log, outcome] of [
    [own, undefined],
    [other, OtherLog],
  ] as const) {
    const faulty = createFaultyEventStore(log.eventStore);
    faulty.readFault = () => Promise.reject(new EventStoreUnavailable('away'));
    const { eventStore, verify } = guardOf({ eventStore: faulty, readModels });
    await expect(verify()).rejects.toThrow('away');
    await expect(eventStore.lastPosition()).rejects.toThrow('away');
    faulty.readFault = null;
    if (outcome === undefined) expect(await eventStore.lastPosition()).toBe(1n);
    else await expect(eventStore.lastPosition()).rejects.toThrow(outcome);
  }
});

test('a log keeps the identity whose append was not answered', async () => {
  const stores = await openStores();
  const faulty = createFaultyEventStore(stores.eventStore);
  faulty.appendFaults.push(async (append) => {
    await append();
    throw new EventStoreUnavailable('the answer got lost');
  });
  const { verify } = guardOf({ ...stores, eventStore: faulty });
  await expect(verify()).rejects.toThrow('the answer got lost');
  await verify();
  await guardOf(stores).verify();
  expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
});
