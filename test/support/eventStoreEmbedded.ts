import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { openDatabase, type Database } from '../../src/events/store/embedded/database.js';
import { eventStoreOn } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import type { EventStoreHarness, EventStoreUnderTest } from './eventStoreHarness.js';
import { startCrashingWriter, startProcess } from './eventStoreSpawn.js';
import { temporaryFolder } from './temporary.js';

export interface EmbeddedUnderTest extends EventStoreUnderTest {
  readonly file: string;
  /** The connection that the store writes with. */
  readonly database: Database;
  /** How the next commits fail. */
  readonly disk: FaultyDisk;
  setClock(epochMs: number): void;
}

export interface FaultyDisk {
  /**
   * Both faults report a failed commit. With `but lies` it was done all the same, with `never` it
   * was not.
   */
  commits: 'soundly' | 'but lies' | 'never';
  /** Number of attempted commits. */
  commitCount: number;
}

/** For `startProcess`. */
export const embeddedOpener = new URL('./eventStoreEmbeddedOpener.ts', import.meta.url).href;

/** A store on a file of its own, whose connection tests can control. */
export const createEmbeddedUnderTest = async (
  base: Clock = systemClock,
  folder = temporaryFolder(),
): Promise<EmbeddedUnderTest> => {
  const file = join(folder, 'events.sqlite');
  let offset = 0;
  const clock: Clock = {
    now: () => base.now() + offset,
    schedule: (delayMs, task, options) => base.schedule(delayMs, task, options),
  };
  const disk: FaultyDisk = { commits: 'soundly', commitCount: 0 };
  const database = withFaults(await openDatabase(file, clock), disk);
  return {
    store: eventStoreOn(database, { file, clock }),
    reopen: async (): Promise<EventStore> => eventStoreOn(await openDatabase(file, clock), { file, clock }),
    file,
    database,
    disk,
    setClock: (epochMs) => {
      offset = epochMs - base.now();
    },
  };
};

const withFaults = (database: Database, disk: FaultyDisk): Database => ({
  prepare: (sql) => {
    const statement = database.prepare(sql);
    if (sql !== 'COMMIT') return statement;
    return {
      run: (...parameters: unknown[]) => {
        disk.commitCount += 1;
        if (disk.commits === 'never') throw syncFailed();
        const result = statement.run(...parameters);
        if (disk.commits === 'but lies') throw syncFailed();
        return result;
      },
      get: statement.get.bind(statement),
      all: statement.all.bind(statement),
      setReturnArrays: statement.setReturnArrays.bind(statement),
    };
  },
  exec: (sql) => {
    database.exec(sql);
  },
  close: () => {
    database.close();
  },
  get isTransaction() {
    return database.isTransaction;
  },
});

/** SQLITE_IOERR_FSYNC, as the driver throws it. */
const syncFailed = (): Error => Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 });

/** Holds the write lock, like a process that hangs in the middle of a write. */
export const holdWriteLock = (file: string): (() => void) => {
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  return () => {
    other.close();
  };
};

export const embeddedEventStoreHarness = (): EventStoreHarness => {
  const inside = new WeakMap<EventStoreUnderTest, EmbeddedUnderTest>();
  const of = (under: EventStoreUnderTest): EmbeddedUnderTest => {
    const found = inside.get(under);
    if (found === undefined) throw new Error('not a store of this harness');
    return found;
  };
  return {
    create: async () => {
      const under = await createEmbeddedUnderTest();
      inside.set(under, under);
      return under;
    },
    faults: {
      process: (under, task) => startProcess(embeddedOpener, of(under).file, task),
      crash: (under, category) => startCrashingWriter(embeddedOpener, of(under).file, category),
      setClock: (under, epochMs) => {
        of(under).setClock(epochMs);
      },
      fillDisk: (under) => {
        const { database } = of(under);
        database.exec('PRAGMA max_page_count = 1'); // SQLite raises this to the current size.
        return Promise.resolve(() => {
          database.exec('PRAGMA max_page_count = 4294967294');
          return Promise.resolve();
        });
      },
      takeDown: (under) => {
        const release = holdWriteLock(of(under).file);
        return Promise.resolve(() => {
          release();
          return Promise.resolve();
        });
      },
      loseAnswers: (under) => {
        const { disk } = of(under);
        disk.commits = 'but lies';
        return Promise.resolve(() => {
          disk.commits = 'soundly';
          return Promise.resolve();
        });
      },
    },
  };
};
