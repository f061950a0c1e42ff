import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Clock } from '../../../platform/clock.js';
import { sqlite, sqliteCode } from '../../../platform/sqliteFault.js';
import { EventStoreFull, EventStoreInUse, EventStoreUnavailable } from '../eventStore.js';

export type Statement = Pick<StatementSyncInstance, 'run' | 'get' | 'all' | 'setReturnArrays'>;

/** The part of a SQLite connection that the store uses. Tests wrap it to make a disk fail. */
export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
  readonly isTransaction: boolean;
}

/**
 * `position` is the order of commits, because it is assigned inside the write lock. The index by id
 * begins with the id, which is ordered by time, so that an insert touches its last page only. A
 * stream's head is the last entry of `events_by_stream`. A row of `kinds` is an event type within a
 * category of streams (see eventTypeIndex.ts). Events of a stream up to the revision `dropped` are
 * gone, or about to be; `dropped_at` is when the last of them was recorded.
 */
const schema = `
  CREATE TABLE streams (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dropped INTEGER,
    dropped_at INTEGER
  ) STRICT;
  CREATE TABLE kinds (
    key INTEGER PRIMARY KEY,
    category TEXT NOT NULL,
    type TEXT NOT NULL,
    UNIQUE (category, type)
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
  CREATE UNIQUE INDEX events_by_id ON events (id, stream);
`;

/** For a file of before, in which no stream could be dropped. Builds of before go on reading it. */
const upgrade = `
  ALTER TABLE streams ADD COLUMN dropped INTEGER;
  ALTER TABLE streams ADD COLUMN dropped_at INTEGER;
`;

const SCHEMA_VERSION = 1;
/** From the first drop on: builds of before would take a dropped stream for a broken one. */
export const VERSION_WITH_DROPS = 2;

/**
 * How long SQLite itself waits for a lock, which blocks this thread. Callers wait longer, without
 * blocking.
 */
export const BLOCKING_WAIT_MS = 10;
const OPENING_ATTEMPTS = 200;
const OPENING_PAUSE_MS = 10;
/** The same for a file that nobody else may have open: the process that has it does not close it soon. */
const ALONE_ATTEMPTS = 20;

/**
 * Opens the file and creates it when it is missing. Several processes may do so at the same time.
 * @param alone whether nobody else may have the file open, until it is closed
 * @throws EventStoreUnavailable when it cannot be opened, or was written by a later version of this
 * software. EventStoreInUse, a subclass, when others have it open and `alone` forbids that.
 */
export const openDatabase = async (file: string, clock: Clock, alone = false): Promise<Database> => {
  const attempts = alone ? ALONE_ATTEMPTS : OPENING_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openOnce(file, alone);
    } catch (error) {
      if (alone && isBusy(error) && attempt === attempts) throw new EventStoreInUse(`${file} is in use`, { cause: error });
      if (!isBusy(error) || attempt === attempts) throw toPortFault(error, file);
      // SQLite does not wait by itself while another process switches a new file to WAL.
      await new Promise<void>((resolve) => {
        clock.schedule(OPENING_PAUSE_MS, resolve, { keepAlive: true });
      });
    }
  }
};

const openOnce = (file: string, alone: boolean): Database => {
  const database = new DatabaseSync(file);
  try {
    // FULL syncs the write-ahead log at every commit; fullfsync makes that sync reach the disk on
    // macOS.
    database.exec(
      `PRAGMA busy_timeout = ${String(BLOCKING_WAIT_MS)}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 4000`,
    );
    if (!isUpToDate(database)) bringUpToDate(database);
    if (versionOf(database) > VERSION_WITH_DROPS)
      throw new EventStoreUnavailable(
        `${file} was written by a newer version of the service. Start that version, or restore a backup from before the upgrade`,
      );
    // SQLite takes its lock on the whole file with the next write, also with one that changes nothing.
    if (alone) database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

const bringUpToDate = (database: Database): void => {
  database.exec('BEGIN IMMEDIATE');
  // Another process may have done it first.
  if (versionOf(database) === 0) database.exec(`${schema}; PRAGMA user_version = ${String(SCHEMA_VERSION)}`);
  else if (!isUpToDate(database)) database.exec(upgrade);
  database.exec('COMMIT');
};

const isUpToDate = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM pragma_table_info('streams') WHERE name = 'dropped'").get() !== undefined;

const versionOf = (database: Database): number =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;

/** Prepares a statement that returns rows as arrays, which are read twice as fast as objects. */
export const prepareRows = (database: Database, sql: string): Statement => {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
};

export const isBusy = (error: unknown): boolean => sqliteCode(error) === sqlite.busy;

export const isConstraint = (error: unknown): boolean => sqliteCode(error) === sqlite.constraint;

/** Whether the disk itself failed. Then a commit may or may not be there after a restart. */
export const isDiskFault = (error: unknown): boolean => sqliteCode(error) === sqlite.ioError;

/**
 * Maps a SQLite error to the port's. Any other error is a defect of ours and returned unchanged.
 * @param file names the file: a start that fails says no more than the message
 */
export const toPortFault = (error: unknown, file: string): unknown => {
  const code = sqliteCode(error);
  if (code === null) return error;
  const words = String(error);
  if (code === sqlite.full) return new EventStoreFull(`the event store's disk is full (${words})`, { cause: error });
  return new EventStoreUnavailable(`${file} cannot be used (${words})`, { cause: error });
};
