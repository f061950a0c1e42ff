import { afterEach, describe, expect, test } from '@jest/globals';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import { EventStoreUnavailable, type EventStore } from '../../src/events/store/eventStore.js';
import { systemClock as clock } from '../../src/platform/clock.js';
import { systemRandom as random } from '../../src/platform/random.js';
import { projections } from '../../src/projections/catalogue.js';
import { guardLog, OtherLog } from '../../src/projections/runner/ownLog.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { ReadModelDropped, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { createFaultyEventStore } from '../support/faultyEventStore.js';
import { someAdmin } from '../support/given.js';
import { newEvent } from '../support/eventStoreEvents.js';
import { engineOn, openStores, type Stores } from '../workers/engines.js';
import { logStream } from '../../src/events/log/log.stream.js';

const codec = createCodec(catalogue);
const guardOf = ({ eventStore, readModels }: Pick<Stores, 'eventStore' | 'readModels'>) =>
  guardLog({ eventStore, readModels, projections, clock, random });

const namesOf = async (eventStore: EventStore): Promise<readonly string[]> =>
  (await eventStore.readStream(logStream.name({}))).events.map(({ type }) => type);

const working: Projector[] = [];
afterEach(async () => {
  for (const projector of working.splice(0)) await projector.stop();
});

/** Stores with websites in them, and read models as a version left them that named no log. */
const storesOfBefore = async (websites: number): Promise<Stores> => {
  const stores = await openStores();
  const engine = engineOn(stores);
  for (let index = 0; index < websites; index += 1) {
    const wish = {
      name: 'x',
      slug: `site-${String(index)}`,
      templateId: 'business',
      tier: 'starter',
      collaborators: [],
    } as const;
    await createWebsite(engine, wish, { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
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
  test('go on over the log that they were begun with, which is named once', async () => {
    const stores = await openStores();
    await guardOf(stores).prove();
    await guardOf(stores).prove();
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
  });

  test('let nothing be read from another log, and nothing be written to it', async () => {
    const { readModels } = await openStores();
    const [own, other] = [await openStores(), await openStores()];
    await guardOf({ eventStore: own.eventStore, readModels }).prove();
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

  test('that know of no log, as those of before, take the one that they were made from for theirs', async () => {
    const stores = await storesOfBefore(2);
    await guardOf(stores).prove();
    const other = await storesOfBefore(5);
    await expect(guardOf({ ...stores, eventStore: other.eventStore }).prove()).rejects.toThrow(OtherLog);
    await guardOf(stores).prove();
  });

  test('are looked at again when another version of them is published meanwhile', async () => {
    const stores = await storesOfBefore(2);
    let drops = 0;
    const checkpoint: ReadModelStore['checkpoint'] = (model) => {
      drops += 1;
      return drops === 2 ? Promise.reject(new ReadModelDropped(model)) : stores.readModels.checkpoint(model);
    };
    await guardOf({ ...stores, readModels: { ...stores.readModels, checkpoint } }).prove();
    expect(drops).toBeGreaterThan(2);
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
  });

  test.each([
    ['shorter', 1],
    ['longer', 5],
  ])('that know of no log are not taken for those of a %s one', async (_, websites) => {
    const stores = await storesOfBefore(2);
    const { eventStore } = await storesOfBefore(websites);
    await expect(guardOf({ ...stores, eventStore }).prove()).rejects.toThrow(OtherLog);
    await guardOf(stores).prove();
  });

  test('that are begun by many at once are of one log', async () => {
    const stores = await openStores();
    await Promise.all(Array.from({ length: 8 }, () => guardOf(stores).prove()));
    expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);

    const { readModels } = await openStores();
    const logs = await Promise.all([openStores(), openStores(), openStores()]);
    const begun = await Promise.allSettled(logs.map(({ eventStore }) => guardOf({ eventStore, readModels }).prove()));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of begun) if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(OtherLog);
  });
});

test('a log that is away at the start is looked at when it is back', async () => {
  const { readModels } = await openStores();
  const [own, other] = [await openStores(), await openStores()];
  await guardOf({ eventStore: own.eventStore, readModels }).prove();

  for (const [log, outcome] of [
    [own, undefined],
    [other, OtherLog],
  ] as const) {
    const faulty = createFaultyEventStore(log.eventStore);
    faulty.readFault = () => Promise.reject(new EventStoreUnavailable('away'));
    const { eventStore, prove } = guardOf({ eventStore: faulty, readModels });
    await expect(prove()).rejects.toThrow('away');
    await expect(eventStore.lastPosition()).rejects.toThrow('away');
    faulty.readFault = null;
    if (outcome === undefined) expect(await eventStore.lastPosition()).toBe(1n);
    else await expect(eventStore.lastPosition()).rejects.toThrow(outcome);
  }
});

test('a log whose naming was not answered keeps the name that it got', async () => {
  const stores = await openStores();
  const faulty = createFaultyEventStore(stores.eventStore);
  faulty.appendFaults.push(async (append) => {
    await append();
    throw new EventStoreUnavailable('the answer got lost');
  });
  const { prove } = guardOf({ ...stores, eventStore: faulty });
  await expect(prove()).rejects.toThrow('the answer got lost');
  await prove();
  await guardOf(stores).prove();
  expect(await namesOf(stores.eventStore)).toStrictEqual(['LogNamed']);
});
