import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { UnknownEvent } from '../../src/events/codec.js';
import { EventStoreUnavailable, NO_STREAM } from '../../src/events/store/eventStore.js';
import { createStreamFolds } from '../../src/events/streamFolds.js';
import { systemClock } from '../../src/platform/clock.js';
import { defineProjection, type Projection } from '../../src/projections/projection.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { ReadModelStoreUnavailable, type ReadModel, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { createValidatedRead, type ValidatedRead } from '../../src/projections/validatedRead.js';
import { newEvent } from '../support/eventStoreEvents.js';
import { newContext, startTwo, type SeatProcess } from '../support/seatProcess.js';
import { room, seatCodec, seatDecider, seatEvents, type SeatEvent } from '../support/seats.js';
import { temporaryFolder } from '../support/temporary.js';

type RoomDocument = { readonly takenBy: readonly string[] };

const projection: Projection<RoomDocument, SeatEvent> = defineProjection({
  name: 'room',
  version: 3,
  stream: { category: 'room', events: seatEvents },
  on: {
    SeatTaken: (document, { data: { by } }) => ({ takenBy: [...(document?.takenBy ?? []), by] }),
  },
  ignores: ['RoomRenamed'],
});

/** So many events that a stored document is asked for: a shorter stream is just read. */
const early = Array.from({ length: 40 }, () => 'Early');

let local: SeatProcess;
let other: SeatProcess;
let readModels: ReadModelStore;
let read: ValidatedRead;

beforeEach(async () => {
  [local, other] = await startTwo();
  readModels = await createEmbeddedReadModelStore({ file: join(temporaryFolder(), 'models.db'), clock: systemClock });
  useReadModels(readModels);
  await other.handle(seatDecider, { type: 'TakeSeats', by: 'Early', count: early.length }, newContext());
});

afterEach(() => readModels.close());

/** Starts with an empty cache. */
const useReadModels = (store: ReadModelStore): void => {
  read = createValidatedRead({ folds: createStreamFolds(local.store, seatCodec), readModels: store });
};

const model = (version: string): ReadModel => ({ name: 'room', version, indexes: [] });

/** Stores a document of room 1 as a projector does; `takenBy` shows where a result comes from. */
const storeDocument = async (
  revision: bigint,
  version = '3',
  takenBy: string[] | null = ['Stored'],
  position = revision + 1n,
): Promise<void> => {
  await readModels.prepare(model(version));
  const body = takenBy === null ? null : { takenBy };
  await readModels.apply(model(version), [{ id: '1', revision, position, body }], position);
  await readModels.publish(model(version));
};

const eventsRead = async (work: () => Promise<unknown>): Promise<number> => {
  local.store.reads.length = 0;
  await work();
  return local.store.reads.reduce((sum, { events }) => sum + events, 0);
};

test('without any projector the document is folded from the log', async () => {
  await other.take('Ada');
  await other.take('Bob');
  expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada', 'Bob'] }, revision: 41n });
});

test('a stream that does not exist has no document', async () => {
  expect(await read(projection, '9')).toEqual({ document: null, revision: NO_STREAM });
});

test('a stored document that is behind is brought up to date with only the events that it lacks', async () => {
  for (const by of ['Ada', 'Bob', 'Cyd']) await other.take(by);
  await storeDocument(40n);
  expect(await eventsRead(() => read(projection, '1'))).toBe(32 + 1 + 2);
  expect(await read(projection, '1')).toEqual({ document: { takenBy: ['Stored', 'Bob', 'Cyd'] }, revision: 42n });
});

test('a stored document that is up to date is taken as it is', async () => {
  await other.take('Ada');
  await storeDocument(40n);
  expect(await eventsRead(() => read(projection, '1'))).toBe(32 + 1);
  expect((await read(projection, '1')).document).toEqual({ takenBy: ['Stored'] });
});

test('of a short stream no stored document is asked for', async () => {
  useReadModels({ ...readModels, get: () => Promise.reject(new TypeError('a mistake')) });
  expect(await eventsRead(() => read(projection, '9'))).toBe(0);
});

test('the next read reflects what another process has appended', async () => {
  await other.take('Ada');
  await read(projection, '1');
  await other.take('Bob');
  expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada', 'Bob'] }, revision: 41n });
});

test('a document is cached: the read models are asked once', async () => {
  let asked = 0;
  useReadModels({
    ...readModels,
    liveVersion: (name) => {
      asked += 1;
      return readModels.liveVersion(name);
    },
  });
  await other.take('Ada');
  await read(projection, '1');
  await read(projection, '1');
  expect(asked).toBe(1);
});

test('an event that the projection ignores changes the revision, not the document', async () => {
  await other.take('Ada');
  await other.handle(seatDecider, { type: 'RenameRoom', name: 'Hall' }, newContext());
  expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada'] }, revision: 41n });
});

describe('a stored document is not used', () => {
  test.each(['2', '4', '2-rebuilt'])(
    'when version %s answers reads: this build, of version 3, may not understand it',
    async (version) => {
      await other.take('Ada');
      await storeDocument(40n, version);
      expect((await read(projection, '1')).document).toEqual({ takenBy: [...early, 'Ada'] });
    },
  );

  test('when it was deleted', async () => {
    await other.take('Ada');
    await storeDocument(40n, '3', null);
    expect((await read(projection, '1')).document).toEqual({ takenBy: [...early, 'Ada'] });
  });

  test('when it is ahead of the log', async () => {
    await other.take('Ada');
    await storeDocument(49n);
    expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada'] }, revision: 40n });
  });

  test('when its last event is none of the log, which was restored from a backup and has gone on otherwise', async () => {
    for (const by of ['Ada', 'Bob']) await other.take(by);
    await storeDocument(40n, '3', ['Lost'], 45n);
    expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada', 'Bob'] }, revision: 41n });
  });
});

test('a version that was rebuilt beside the live one is used as soon as it is published', async () => {
  await other.take('Ada');
  await storeDocument(40n);
  await read(projection, '2');
  await storeDocument(40n, '3-rebuilt', ['Rebuilt']);
  expect((await read(projection, '1')).document).toEqual({ takenBy: ['Rebuilt'] });
});

describe('when the read models', () => {
  const down = (): Promise<never> => Promise.reject(new ReadModelStoreUnavailable('the store is down'));

  test.each([
    ['fail over the live version', { liveVersion: down }],
    ['fail over the document', { get: down }],
  ])('%s, the log gives the same', async (_, faults) => {
    await other.take('Ada');
    await storeDocument(40n);
    useReadModels({ ...readModels, ...faults });
    expect(await read(projection, '1')).toEqual({ document: { takenBy: [...early, 'Ada'] }, revision: 40n });
  });

  test('fail otherwise than by being unavailable, the fault is not hidden', async () => {
    await other.take('Ada');
    await storeDocument(40n);
    useReadModels({ ...readModels, get: () => Promise.reject(new TypeError('a mistake')) });
    await expect(read(projection, '1')).rejects.toThrow(TypeError);
  });
});

describe('it fails', () => {
  test('when the log is unavailable, even with a fresh document', async () => {
    await other.take('Ada');
    await storeDocument(40n);
    await read(projection, '1');
    local.store.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    await expect(read(projection, '1')).rejects.toThrow(EventStoreUnavailable);
  });

  test.each(['folded from the log', 'brought up to date'])('when an event of an unknown type is %s', async (how) => {
    await other.take('Ada');
    if (how === 'brought up to date') await storeDocument(40n);
    await read(projection, '1');
    await local.store.append(room, [newEvent('SeatGivenUp')], 40n);
    await expect(read(projection, '1')).rejects.toThrow(UnknownEvent);
  });

  test('when an event has a newer version than this build knows', async () => {
    await other.take('Ada');
    await local.store.append(room, [{ ...newEvent('SeatTaken', { by: 'Bob' }), schemaVersion: 2 }], 40n);
    await expect(read(projection, '1')).rejects.toThrow(UnknownEvent);
  });
});
