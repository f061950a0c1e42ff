import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { createFoldSnapshots } from '../../src/projections/foldSnapshots.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { ReadModelStoreUnavailable, type ReadModelStore, type RecordStore } from '../../src/projections/store/readModelStore.js';
import { temporaryFolder } from '../support/temporary.js';

const fold = { name: 'seats', snapshotVersion: 2 };
const snapshot = {
  state: { stage: 'open', seats: new Map([['Ada', { at: 7n }]]), times: ['now'], note: undefined },
  revision: 1_200n,
  at: '2026-01-01T00:00:00.000Z',
  eventId: 'event',
};

let readModels: ReadModelStore;

beforeEach(async () => {
  readModels = await createEmbeddedReadModelStore({ file: join(temporaryFolder(), 'models.db'), clock: systemClock });
});

afterEach(() => readModels.close());

const snapshotsIn = (records: RecordStore) => createFoldSnapshots(records, systemClock);

test('a snapshot comes back as it was, to its own fold, version and stream', async () => {
  const snapshots = snapshotsIn(readModels.records);
  await snapshots.save(fold, 'room-1', snapshot);
  expect(await snapshots.load(fold, 'room-1')).toEqual(snapshot);
  expect(await snapshots.load(fold, 'room-2')).toBeNull();
  expect(await snapshots.load({ ...fold, name: 'chairs' }, 'room-1')).toBeNull();
  expect(await snapshots.load({ ...fold, snapshotVersion: 3 }, 'room-1')).toBeNull();
});

test('a store that is away is no fault; another fault is not hidden', async () => {
  const failing = (fault: Error) => {
    const fail = (): Promise<never> => Promise.reject(fault);
    return snapshotsIn({ ...readModels.records, get: fail, put: fail });
  };
  const away = failing(new ReadModelStoreUnavailable('the store is down'));
  await away.save(fold, 'room-1', snapshot);
  expect(await away.load(fold, 'room-1')).toBeNull();
  const broken = failing(new TypeError('a mistake'));
  await expect(broken.save(fold, 'room-1', snapshot)).rejects.toThrow(TypeError);
  await expect(broken.load(fold, 'room-1')).rejects.toThrow(TypeError);
});

test('one that is too large for a record is left', async () => {
  const snapshots = snapshotsIn(readModels.records);
  await snapshots.save(fold, 'room-1', { ...snapshot, state: 'x'.repeat(9_000_000) });
  expect(await snapshots.load(fold, 'room-1')).toBeNull();
});
