import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { openDatabase, type Statement } from '../../src/events/store/embedded/database.js';
import { createEmbeddedEventStore, eventStoreOn } from '../../src/events/store/embedded/eventStore.js';
import { createEventTypeIndex } from '../../src/events/store/embedded/eventTypeIndex.js';
import { createLogReader } from '../../src/events/store/embedded/logReader.js';
import {
  CorruptedRetry,
  EventStoreFull,
  EventStoreUnavailable,
  NO_STREAM,
  OutcomeUnknown,
  START,
  WrongExpectedRevision,
  type LogSlice,
} from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { nextTurn } from '../../src/platform/eventLoop.js';
import {
  createEmbeddedUnderTest,
  embeddedEventStoreHarness,
  embeddedOpener,
  holdWriteLock,
} from '../support/eventStoreEmbedded.js';
import type { EmbeddedUnderTest } from '../support/eventStoreEmbedded.js';
import { asWritten, follow, idsOf, newEvent, newEvents, startFollowing } from '../support/eventStoreEvents.js';
import { startProcess } from '../support/eventStoreSpawn.js';
import { temporaryFolder } from '../support/temporary.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import { eventStoreContract } from './eventStore.contract.js';

eventStoreContract('the embedded event store', embeddedEventStoreHarness);

const opened: EmbeddedUnderTest[] = [];

afterEach(async () => {
  for (const { store } of opened.splice(0)) await store.close();
});

const open = async (clock?: Clock): Promise<EmbeddedUnderTest> => {
  const under = await createEmbeddedUnderTest(clock);
  opened.push(under);
  return under;
};

describe('a stream that is dropped', () => {
  test('is gone when the process ends in the middle, and the next drop completes it', async () => {
    const under = await open();
    await under.store.append('thing-1', newEvents(1_000), NO_STREAM);
    await under.store.append('thing-2', newEvents(1), NO_STREAM);
    const dropping = under.store.drop('thing-1', 999n);
    await under.store.close();
    await expect(dropping).rejects.toThrow('the event store is closed');
    const reopened = await under.reopen();
    const left = async () => (await reopened.readAll({ after: START, max: 2_000 })).events.length;
    expect(await reopened.readStream('thing-1')).toStrictEqual({ events: [], head: 999n });
    expect(await left()).toBe(801);
    expect(await reopened.append('thing-1', newEvents(1), 999n)).toMatchObject({ revision: 1_000n, position: 1_002n });
    await reopened.drop('thing-1', 1_000n);
    // The last event of the log, which keeps its position from being given again.
    expect(await left()).toBe(2);
    await reopened.close();
  });

  test('may be one of a file of before, which older builds read until then', async () => {
    const under = await open();
    const { store, file } = under;
    await store.append('thing-1', newEvents(2), NO_STREAM);
    await store.close();
    withSqlite(file, 'ALTER TABLE streams DROP COLUMN dropped; ALTER TABLE streams DROP COLUMN dropped_at');
    const reopened = await under.reopen();
    expect(versionOf(file)).toBe(1);
    await reopened.drop('thing-1', 1n);
    expect(await reopened.readStream('thing-1')).toStrictEqual({ events: [], head: 1n });
    expect(versionOf(file)).toBe(2);
    await reopened.close();
  });
});

describe('all appends of one turn of the event loop', () => {
  test('are one transaction', async () => {
    const { store, disk } = await open();
    await Promise.all(Array.from({ length: 64 }, (_, index) => store.append(`thing-${String(index)}`, newEvents(1), NO_STREAM)));
    expect(disk.commitCount).toBe(1);
    await store.append('thing-1', newEvents(1), 0n);
    expect(disk.commitCount).toBe(2);
  });

  test('wait while each turn brings more of them, for some turns', async () => {
    const { store, disk } = await open();
    const appended: Promise<unknown>[] = [];
    const append = (): void => {
      appended.push(store.append(`thing-${String(appended.length)}`, newEvents(1), NO_STREAM));
    };
    append();
    for (let turn = 0; turn < 4; turn += 1) {
      append();
      await nextTurn();
    }
    await Promise.all(appended);
    expect(disk.commitCount).toBe(1);

    for (let turn = 0; turn < 20; turn += 1) {
      append();
      append();
      await nextTurn();
    }
    await Promise.all(appended);
    expect(disk.commitCount).toBeGreaterThan(2);
    expect(disk.commitCount).toBeLessThan(6);
  });

  test('wait under load for about as many as the last transaction had, some milliseconds at most', async () => {
    const clock = createTestClock();
    const { store, disk } = await open(clock);
    let streams = 0;
    const append = (count: number): Promise<unknown> =>
      Promise.all(Array.from({ length: count }, () => store.append(`thing-${String((streams += 1))}`, newEvents(1), NO_STREAM)));
    const paused = (): Promise<unknown> => eventually('the pause', () => Promise.resolve(clock.pending() > 0 || undefined));
    await append(16);

    const some = append(4);
    await paused();
    const others = append(8);
    await clock.advance(1);
    await Promise.all([some, others]);
    expect(disk.commitCount).toBe(2);

    const one = append(1);
    for (let pause = 0; pause < 3; pause += 1) {
      await paused();
      await clock.advance(1);
    }
    await one;
    // Nothing is waited for any more.
    await append(1);
    expect(disk.commitCount).toBe(4);
    expect(clock.pending()).toBe(0);
  });

  test('see each other in order, and one that is refused leaves the others alone', async () => {
    const { store } = await open();
    const [taken, repeated, fresh] = [newEvent(), newEvent(), newEvent()];
    await store.append('thing-1', [taken], NO_STREAM);
    const outcomes = await Promise.allSettled([
      store.append('thing-1', [repeated], 0n),
      store.append('thing-1', newEvents(1), 0n),
      store.append('thing-1', newEvents(2), 1n),
      store.append('thing-2', newEvents(1), 'exists'),
      store.append('thing-2', newEvents(1), NO_STREAM),
      store.append('thing-1', [fresh, newEvent('New'), taken], 3n),
      store.append('thing-1', [repeated], 0n),
      store.append('thing-1', [fresh], 3n),
    ]);
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: { revision: 1n, position: 2n } },
      { status: 'rejected', reason: expect.any(WrongExpectedRevision) },
      { status: 'fulfilled', value: { revision: 3n, position: 4n } },
      { status: 'rejected', reason: expect.any(WrongExpectedRevision) },
      { status: 'fulfilled', value: { revision: 0n, position: 5n } },
      { status: 'rejected', reason: expect.any(CorruptedRetry) },
      { status: 'fulfilled', value: { revision: 1n, position: 2n } },
      { status: 'fulfilled', value: { revision: 4n, position: 6n } },
    ]);
    const { events } = await store.readAll({ after: START });
    expect(events.map(({ position }) => Number(position))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(events.at(-1)).toMatchObject(fresh);
  });
});

describe('however many subscribe', () => {
  const subscribers = 100;
  /** A store whose reads are counted, with subscribers to one category each, and one to everything. */
  const openCounted = async () => {
    const file = join(temporaryFolder(), 'events.sqlite');
    const database = await openDatabase(file, systemClock);
    /** Looks at the end of the log, of which each signal of a commit causes one too, and all other reads. */
    const counted = { looks: 0, reads: 0 };
    const count = (statement: Statement, what: keyof typeof counted): Statement => {
      const counting = <Call extends () => unknown>(call: Call): Call =>
        new Proxy(call, {
          apply: (read, _, values) => {
            counted[what] += 1;
            const result: unknown = Reflect.apply(read, statement, values);
            return result;
          },
        });
      return {
        run: (...values) => statement.run(...(values as never[])),
        get: counting<Statement['get']>(statement.get),
        all: counting<Statement['all']>(statement.all),
        setReturnArrays: (enabled) => {
          statement.setReturnArrays(enabled);
        },
      };
    };
    const store = eventStoreOn(
      {
        prepare: (sql) => count(database.prepare(sql), sql === 'SELECT max(position) FROM events' ? 'looks' : 'reads'),
        exec: (sql) => {
          database.exec(sql);
        },
        close: () => {
          database.close();
        },
        get isTransaction() {
          return database.isTransaction;
        },
      },
      { file, clock: createTestClock() },
    );
    const everything = startFollowing(store, { after: START });
    const following = Array.from({ length: subscribers }, (_, index) => {
      let slices = 0;
      const iterator = startFollowing(store, { after: START, filter: { streamPrefixes: [`category${String(index)}-`] } });
      const run = async (): Promise<void> => {
        while ((await iterator.next()).done !== true) slices += 1;
      };
      return { running: run(), slices: () => slices };
    });
    return { file, store, everything, following, counted };
  };

  test('what this process commits is not read, and wakes those that want it', async () => {
    const { store, everything, following, counted } = await openCounted();
    const first = everything.next();
    await store.append('other-0', newEvents(1), 'any');
    await first;
    const before = counted.looks + counted.reads;
    for (let index = 0; index < 20; index += 1) {
      const events = newEvents(2);
      const next = everything.next();
      await store.append(`category${String(index)}-1`, events, NO_STREAM);
      expect(((await next).value as LogSlice).events.map(asWritten)).toEqual(events);
    }
    // The writer reads the head of the log and of the stream, and looks for the signal that it gave.
    expect(counted.looks + counted.reads - before).toBeLessThan(20 * 10);
    // The others learn of the position later, by a clock that stands still here.
    expect(following.map(({ slices }) => slices())).toEqual(following.map((_, index) => (index < 20 ? 1 : 0)));
    await store.close();
    await Promise.all(following.map(({ running }) => running));
  });

  test('a stream in use is read from memory after a look at the end of the log, and what another process commits to it is seen', async () => {
    const { file, store, following, counted } = await openCounted();
    const readsOf = async (from: bigint): Promise<readonly unknown[]> => {
      const before = counted.reads;
      const { events, head } = await store.readStream('other-1', { from });
      return [idsOf(events), head, counted.reads - before];
    };
    const [first, second, third] = [newEvent(), newEvent(), newEvent()];
    await store.append('other-1', [first], NO_STREAM);
    expect((await readsOf(0n)).slice(0, 2)).toEqual([[first.id], 0n]);
    for (let index = 0; index < 3; index += 1) expect(await readsOf(1n)).toEqual([[], 0n, 0]);
    await store.append('other-1', [second], 0n);
    expect(await readsOf(1n)).toEqual([[second.id], 1n, 0]);
    const elsewhere = await createEmbeddedEventStore({ file, clock: systemClock });
    await elsewhere.append('other-1', [third], 1n);
    expect((await store.readStream('other-1', { from: 1n })).head).toBe(2n);
    expect(await readsOf(1n)).toEqual([[second.id, third.id], 2n, 0]);
    await elsewhere.close();
    await store.close();
    await Promise.all(following.map(({ running }) => running));
  });

  test('a reader that is far behind a stream in use reads it', async () => {
    const { store, following, counted } = await openCounted();
    await store.append('other-1', newEvents(1), NO_STREAM);
    await store.readStream('other-1');
    await store.append('other-1', newEvents(100), 0n);
    const before = counted.reads;
    expect((await store.readStream('other-1', { from: 1n })).events).toHaveLength(100);
    expect((await store.readStream('other-1', { from: 90n })).events).toHaveLength(11);
    // Only the first of them asks for the stream, and for events, 32 at a time.
    expect(counted.reads - before).toBe(1 + 4);
    await store.close();
    await Promise.all(following.map(({ running }) => running));
  });

  test('reads of one turn of the event loop share one look at the end of the log, which comes after each of them', async () => {
    const { file, store, following, counted } = await openCounted();
    const elsewhere = await createEmbeddedEventStore({ file, clock: systemClock });
    const streams = Array.from({ length: 64 }, (_, index) => `other-${String(index)}`);
    const readAll = () => Promise.all(streams.map((stream) => store.readStream(stream, { from: 1n })));
    const appendAll = (expected: bigint) =>
      Promise.all(streams.map((stream) => elsewhere.append(stream, newEvents(1), expected)));
    await appendAll(NO_STREAM);
    await Promise.all(streams.map((stream) => store.readStream(stream)));
    await appendAll(0n);
    const before = counted.looks;
    expect((await readAll()).map(({ head, events }) => [head, events.length])).toEqual(streams.map(() => [1n, 1]));
    // The signal of the other's commit may have caused another one.
    expect(counted.looks - before).toBeLessThanOrEqual(2);
    await elsewhere.close();
    await store.close();
    await Promise.all(following.map(({ running }) => running));
  });

  test('what another process commits is read once', async () => {
    const { file, store, everything, following, counted } = await openCounted();
    const elsewhere = await createEmbeddedEventStore({ file, clock: systemClock });
    const first = everything.next();
    await elsewhere.append('other-0', newEvents(1), 'any');
    await first;
    const before = counted.looks + counted.reads;
    for (let index = 0; index < 20; index += 1) {
      const next = everything.next();
      await elsewhere.append('other-1', newEvents(2), 'any');
      expect(await next).toMatchObject({ value: { events: { length: 2 } } });
    }
    // For each signal the head, and the events when there are new ones.
    expect(counted.looks + counted.reads - before).toBeLessThan(subscribers);
    await elsewhere.close();
    await store.close();
    await Promise.all(following.map(({ running }) => running));
  });
});

test('of what another process commits no more than a few megabytes are read at once, and all of it arrives', async () => {
  const { file, store } = await open();
  const following = startFollowing(store, { after: START });
  const elsewhere = await createEmbeddedEventStore({ file, clock: systemClock });
  const first = following.next();
  await elsewhere.append('other-0', newEvents(1), 'any');
  await first;
  const large = Array.from({ length: 64 }, () => ({ ...newEvent(), data: { text: 'x'.repeat(100_000) } }));
  for (let at = 0; at < large.length; at += 8) await elsewhere.append('other-1', large.slice(at, at + 8), 'any');
  const arrived: string[] = [];
  while (arrived.length < large.length) {
    const { value } = await following.next();
    arrived.push(...(value as LogSlice).events.map(({ id }) => id));
  }
  expect(arrived).toStrictEqual(large.map(({ id }) => id));
  const database = await openDatabase(file, systemClock);
  const log = createLogReader(database, createEventTypeIndex(database));
  expect(log.readWritten(0, 33)?.length).toBe(33);
  expect(log.readWritten(0, 65)).toBeNull();
  database.close();
  await elsewhere.close();
});

test('a write that waits for the lock of another process begins when that one has committed', async () => {
  const clock = createTestClock();
  const { store, file } = await open(clock);
  const iterator = startFollowing(store, { after: START });
  const seen = iterator.next();
  const elsewhere = await openDatabase(file, systemClock);
  elsewhere.exec('BEGIN IMMEDIATE');
  const appended = store.append('thing-1', newEvents(1), NO_STREAM);
  // The pause until the next attempt, beside the safety check. This clock stands still.
  await eventually('the write to wait', () => Promise.resolve(clock.pending() > 1 || undefined));
  elsewhere.exec('COMMIT');
  const elsewhereStore = eventStoreOn(elsewhere, { file, clock: systemClock });
  await elsewhereStore.append('other-1', newEvents(1), NO_STREAM);
  expect(await appended).toMatchObject({ revision: 0n });
  await seen;
  await iterator.return?.();
  await elsewhereStore.close();
});

describe('a commit of another process reaches a subscription', () => {
  test('at once, without waiting for the safety check', async () => {
    const { store, file } = await open(createTestClock());
    const elsewhere = await createEmbeddedEventStore({ file, clock: systemClock });
    const iterator = startFollowing(store, { after: START });
    for (let round = 0; round < 3; round += 1) {
      const next = iterator.next();
      const events = newEvents(1);
      await elsewhere.append('thing-1', events, 'any');
      expect(await next).toMatchObject({ value: { events } });
    }
    await iterator.return?.();
    await elsewhere.close();
  });

  test('within a second when its signal is lost; afterwards no timer is left', async () => {
    const clock = createTestClock();
    const { store, file } = await open(clock);
    const database = await openDatabase(file, clock);
    const otherStore = eventStoreOn(database, { file: join(temporaryFolder(), 'elsewhere.sqlite'), clock });
    const iterator = startFollowing(store, { after: START });
    const next = iterator.next();
    const events = newEvents(2);
    await otherStore.append('thing-1', events, 'any');
    await clock.advance(1_000);
    expect(await next).toMatchObject({ value: { events } });
    expect(clock.pending()).toBe(1);
    await iterator.return?.();
    expect(clock.pending()).toBe(0);
    await otherStore.close();
  });

  test('no timer is left after closing, even when a consumer never asks again', async () => {
    const clock = createTestClock();
    const { store } = await open(clock);
    await store.append('thing-1', newEvents(3), 'any');
    const iterator = startFollowing(store, { after: START, maxBatch: 1 });
    await iterator.next();
    await store.close();
    expect(clock.pending()).toBe(0);
    expect(await iterator.next()).toMatchObject({ done: true });
  });
});

test('a sync that fails before anything was written is an unknown outcome too; writing goes on', async () => {
  const under = await open();
  const { store, disk } = under;
  await store.append('thing-1', newEvents(1), NO_STREAM);
  disk.commits = 'never';
  const events = [newEvent('NeverSeenBefore')];
  await expect(store.append('other-1', events, NO_STREAM)).rejects.toThrow(OutcomeUnknown);
  await expect(store.append('thing-1', events, 0n)).rejects.toThrow(OutcomeUnknown);
  // Its refusal rests on an earlier append of the same transaction, whose outcome is unknown.
  await expect(store.append('thing-1', newEvents(1), 5n)).rejects.toThrow(OutcomeUnknown);
  disk.commits = 'soundly';
  expect((await store.readStream('other-1')).head).toBe(NO_STREAM);
  expect(await store.lastPosition()).toBe(1n);
  await expect(store.append('thing-1', newEvents(1), 5n)).rejects.toMatchObject({ actual: 0n });
  expect(await store.append('thing-1', events, 0n)).toEqual({ revision: 1n, position: 2n });
  expect(await store.append('other-1', events, NO_STREAM)).toEqual({ revision: 0n, position: 3n });
  const reopened = await under.reopen();
  expect((await reopened.readStream('other-1')).events.map(asWritten)).toEqual(events);
  await reopened.close();
});

test('an append sees what another process has written meanwhile, also in a stream that this one has just written', async () => {
  const under = await open();
  const { store, disk } = under;
  const elsewhere = await under.reopen();
  await store.append('thing-1', newEvents(1), NO_STREAM);
  await elsewhere.append('thing-1', newEvents(2), 0n);
  await expect(store.append('thing-1', newEvents(1), 0n)).rejects.toMatchObject({ actual: 2n });
  expect(await store.append('thing-1', newEvents(1), 2n)).toEqual({ revision: 3n, position: 4n });
  expect(await elsewhere.append('thing-1', newEvents(1), 3n)).toEqual({ revision: 4n, position: 5n });
  // As many events as this process had written in vain.
  disk.commits = 'never';
  await expect(store.append('thing-1', newEvents(1), 4n)).rejects.toThrow(OutcomeUnknown);
  disk.commits = 'soundly';
  await elsewhere.append('thing-2', newEvents(1), NO_STREAM);
  expect(await store.append('thing-1', newEvents(1), 4n)).toEqual({ revision: 5n, position: 7n });
  await elsewhere.close();
});

test('Node does not end a process whose append waits for the lock of another', async () => {
  const { file } = await open();
  const writer = await startProcess(embeddedOpener, file, { kind: 'write', category: 'thing-', count: 1 });
  const release = holdWriteLock(file);
  writer.go();
  expect(await writer.answer).toEqual({ failed: 'EventStoreUnavailable' });
  release();
});

test('reads and subscriptions go on while another process holds the write lock', async () => {
  const { store, file } = await open();
  const events = newEvents(3);
  await store.append('thing-1', events, NO_STREAM);
  const release = holdWriteLock(file);
  const waiting = store.append('thing-1', newEvents(1), 2n);
  expect((await store.readStream('thing-1')).events.map(asWritten)).toEqual(events);
  expect((await follow(store, { after: START }, (received) => received.events.length === 3)).events.map(asWritten)).toEqual(
    events,
  );
  release();
  expect(await waiting).toMatchObject({ revision: 3n });
});

test('several processes may make the file at the same time', async () => {
  const file = join(temporaryFolder(), 'events.sqlite');
  const writers = await Promise.all(
    [1, 2, 3].map(() => startProcess(embeddedOpener, file, { kind: 'write', category: 'thing-', count: 10 })),
  );
  for (const writer of writers) writer.go();
  expect(await Promise.all(writers.map(({ answer }) => answer))).toEqual([{}, {}, {}]);
  const store = await createEmbeddedEventStore({ file, clock: systemClock });
  expect((await store.readAll({ after: START })).events).toHaveLength(30);
  await store.close();
});

test('a closed store leaves everything in its one file', async () => {
  const { store, file } = await open();
  const events = newEvents(50);
  await store.append('thing-1', events, NO_STREAM);
  await store.close();
  const copy = join(temporaryFolder(), 'copy.sqlite');
  copyFileSync(file, copy);
  const copied = await createEmbeddedEventStore({ file: copy, clock: systemClock });
  expect((await copied.readStream('thing-1')).events.map(asWritten)).toEqual(events);
  await copied.close();
});

test('events that do not match are skipped, in a long log too', async () => {
  const { store } = await open();
  const needle = newEvent('Needle');
  const filter = { types: ['Needle'] };
  const hay = async (): Promise<unknown> =>
    Promise.all([1, 2, 3, 4, 5, 6].map((index) => store.append(`hay-${String(index)}`, newEvents(400), 'any')));
  expect(await store.lastPosition(filter)).toBe(START);
  await hay();
  await store.append('thing-1', [needle], NO_STREAM);
  expect(await store.lastPosition(filter)).toBe(2_401n);
  expect(await store.lastPosition({ streamPrefixes: ['thing-1'] })).toBe(2_401n);
  await store.append('hay-1', newEvents(10), 'any');
  expect(await store.lastPosition(filter)).toBe(2_401n);
  await hay();
  expect(await store.readAll({ after: START, filter })).toMatchObject({ events: [needle], position: 4_811n });
  expect(await store.readAll({ after: START, filter, max: 1 })).toMatchObject({ events: [needle], position: 2_401n });
  const { slices } = await follow(store, { after: START, filter }, ({ position }) => position === 4_811n);
  expect(slices.flatMap(({ events }) => idsOf(events))).toEqual([needle.id]);
  const last = await store.lastPosition(filter);
  expect(last).toBeGreaterThan(2_401n);
  expect(last).toBeLessThan(4_811n);
});

describe('a file that cannot be used', () => {
  test.each<[string, (file: string) => void]>([
    [
      'is no database',
      (file) => {
        writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(20));
      },
    ],
    [
      'stands in a folder that is not there',
      (file) => {
        rmSync(join(file, '..'), { recursive: true });
      },
    ],
    [
      'was written by a later version',
      (file) => {
        withSqlite(file, 'PRAGMA user_version = 99');
      },
    ],
    [
      'holds other tables',
      (file) => {
        withSqlite(file, 'PRAGMA user_version = 1; CREATE TABLE other (a)');
      },
    ],
  ])('%s', async (_, spoil) => {
    const file = join(temporaryFolder(), 'events.sqlite');
    spoil(file);
    const refused = createEmbeddedEventStore({ file, clock: systemClock });
    await expect(refused).rejects.toThrow(EventStoreUnavailable);
    await expect(refused).rejects.toThrow(file);
  });

  test('is damaged while it is in use', async () => {
    const { store, file } = await open();
    await store.append('thing-1', newEvents(1), NO_STREAM);
    withSqlite(file, 'DROP TABLE events');
    const uses = [
      () => store.readStream('thing-1'),
      () => store.append('thing-1', newEvents(1), 0n),
      () => follow(store, { after: START }, () => true),
    ];
    for (const use of uses) {
      await expect(use()).rejects.toThrow(EventStoreUnavailable);
      await expect(use()).rejects.toThrow(`${file} cannot be used`);
    }
  });
});

const withSqlite = (file: string, sql: string): void => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

const versionOf = (file: string): number => {
  const database = new DatabaseSync(file);
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  database.close();
  return user_version;
};

const mountSmallDisk = (folder: string): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' });
};
// Lazily, because the driver keeps the file open until its statements are garbage collected.
const unmount = (folder: string): void => {
  execFileSync('umount', ['-l', folder]);
};

/** Only an administrator may mount. The contract's case 32 shows the same with SQLite's page limit. */
const mayMount = (): boolean => {
  const folder = temporaryFolder();
  try {
    mountSmallDisk(folder);
  } catch {
    return false;
  }
  unmount(folder);
  return true;
};

(mayMount() ? test : test.skip)(
  'a disk that is really full refuses writes, serves reads, and is written again once there is room',
  async () => {
    const folder = temporaryFolder();
    mountSmallDisk(folder);
    try {
      const { store, file } = await createEmbeddedUnderTest(systemClock, folder);
      await store.append('thing-1', newEvents(1), NO_STREAM);
      const ballast = `${file}-ballast`;
      const small = newEvents(1);
      expect(() => {
        writeFileSync(ballast, Buffer.alloc(4_000_000));
      }).toThrow('ENOSPC');
      const big = [newEvent('Happened', { padding: 'x'.repeat(200_000) })];
      await expect(store.append('thing-1', big, 0n)).rejects.toThrow(EventStoreFull);
      expect((await store.readStream('thing-1')).head).toBe(0n);
      rmSync(ballast);
      expect(await store.append('thing-1', big, 0n)).toMatchObject({ revision: 1n });
      expect(await store.append('thing-1', small, 1n)).toMatchObject({ revision: 2n });
      await store.close();
    } finally {
      unmount(folder);
    }
  },
);
