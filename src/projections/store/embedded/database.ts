import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { sleep, type Clock } from '../../../platform/clock.js';
import { sqlite, sqliteCode } from '../../../platform/sqliteFault.js';
import { ReadModelStoreInUse, ReadModelStoreUnavailable } from '../readModelStore.js';

/**
 * A parameter of a statement. `undefined` is left out, because SQLite would silently store NULL.
 */
export type SqlValue = string | bigint | number | null | Uint8Array;

/** A prepared statement that returns integers as bigint. */
export interface Statement {
  run(...parameters: readonly SqlValue[]): { readonly changes: bigint };
  get(...parameters: readonly SqlValue[]): unknown;
  all(...parameters: readonly SqlValue[]): unknown[];
}

/** The SQLite file, which other processes may use at the same time. */
export interface Database {
  /** The prepared statement of `sql`; each text is prepared once. */
  readonly statement: (sql: string) => Statement;
  /** Runs `work` once, without waiting for another process that holds the file. */
  attemptOnce<Result>(work: () => Result): Result;
  /** Runs `work` and repeats it for up to 10 s while another process holds the file. */
  read<Result>(work: () => Result): Promise<Result>;
  /** As `read`, in one read transaction: all statements of `work` see the same state. */
  snapshot<Result>(work: () => Result): Promise<Result>;
  /** As `read`, in one write transaction, which is rolled back when `work` throws. */
  write<Result>(work: () => Result): Promise<Result>;
  /** As `write`; what it wrote survives a power cut. All that are called in one turn of the event loop share a transaction. */
  writeDurably<Result>(work: () => Result): Promise<Result>;
  close(): void;
}

const schemaVersion = 1;

/**
 * `document.body` is NULL in a tombstone. `entry` is the index: one row for each indexed field,
 * value and document. `dropped` lists the model keys whose rows a publish left behind for the
 * sweep. Keys are never reused, so no query finds these rows.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS model (
    key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, version TEXT NOT NULL,
    checkpoint INTEGER NOT NULL DEFAULT 0, live INTEGER NOT NULL DEFAULT 0, UNIQUE (name, version)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS dropped (key INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE IF NOT EXISTS document (
    model INTEGER NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, position INTEGER NOT NULL, body TEXT,
    PRIMARY KEY (model, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tombstone ON document (model, position) WHERE body IS NULL;
  CREATE TABLE IF NOT EXISTS entry (
    model INTEGER NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY (model, field, value, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS record (
    collection TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires INTEGER, PRIMARY KEY (collection, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS expiry ON record (expires) WHERE expires IS NOT NULL;
  PRAGMA user_version = ${String(schemaVersion)};
`;

/** For a file that another connection holds. */
const busyCodes = new Set<number | null>([sqlite.busy, sqlite.locked]);
/** For a file that cannot be used, as opposed to a wrong statement. */
const unavailableCodes = new Set<number | null>([
  ...busyCodes,
  sqlite.noMemory,
  sqlite.readOnly,
  sqlite.ioError,
  sqlite.corrupt,
  sqlite.full,
  sqlite.cannotOpen,
  sqlite.protocol,
  sqlite.notADatabase,
]);

interface WaitingWrite {
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (fault: unknown) => void;
}

/** How long one attempt may block the event loop. */
const blockingMs = 5;
/** Between two attempts: shorter than the rest after a long write in bulk (`writingProgram.ts`). */
const maxPauseMs = 25;
/** How long a call repeats its attempts. */
const timeoutMs = 10_000;

export interface DatabaseOptions {
  /**
   * `derived` (the default): a power cut may take the last commits, which are folded again from the
   * log. `durable`: a commit survives a power cut, and deleted data is overwritten.
   */
  readonly durability?: 'derived' | 'durable';
  /** Whether nobody else may have the file open, until it is closed. Default: others may. */
  readonly alone?: boolean;
}

/**
 * Opens the file, making it and its folder when they are missing.
 *
 * @throws ReadModelStoreUnavailable when it cannot be opened, is not a database, or was written by
 * a newer version of the service. ReadModelStoreInUse, a subclass, when others have it open and
 * `alone` forbids that.
 */
export const openDatabase = async (
  file: string,
  clock: Clock,
  { durability = 'derived', alone = false }: DatabaseOptions = {},
): Promise<Database> => {
  const connection = await connect(file, clock, durability);
  if (alone) keepOthersOut(connection, file);
  const statements = new Map<string, Statement>();

  const statement = (sql: string): Statement => {
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      const made = connection.prepare(sql);
      made.setReadBigInts(true);
      // The driver's types do not know that `changes` becomes a bigint too.
      prepared = made as unknown as Statement;
      statements.set(sql, prepared);
    }
    return prepared;
  };

  const attemptOnce = <Result>(work: () => Result): Result => {
    if (!connection.isOpen) throw new ReadModelStoreUnavailable('the read-model store is closed');
    try {
      return work();
    } catch (fault) {
      throw unavailableCodes.has(sqliteCode(fault)) ? toUnavailable(file, fault) : fault;
    }
  };

  const attemptUntilTimeout = async <Result>(work: () => Result): Promise<Result> => {
    const deadline = clock.now() + timeoutMs;
    for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        return attemptOnce(work);
      } catch (fault) {
        const isBusy = fault instanceof ReadModelStoreUnavailable && busyCodes.has(sqliteCode(fault.cause));
        if (!isBusy || clock.now() >= deadline) throw fault;
      }
      await sleep(clock, pauseMs);
    }
  };

  const inTransaction = <Result>(begin: string, work: () => Result): Result => {
    statement(begin).run();
    try {
      const result = work();
      statement('COMMIT').run();
      return result;
    } catch (fault) {
      // On a full disk SQLite may have rolled back by itself.
      if (connection.isTransaction) statement('ROLLBACK').run();
      throw fault;
    }
  };

  const writeNow = <Result>(work: () => Result): Promise<Result> =>
    attemptUntilTimeout(() => {
      // The sync at the end of the transaction also takes earlier ones, of any process, to the disk:
      // they stand before it in the same file.
      connection.exec('PRAGMA synchronous = FULL');
      try {
        return inTransaction('BEGIN IMMEDIATE', work);
      } finally {
        connection.exec(`PRAGMA ${pragmas[durability]}`);
      }
    });

  let waiting: WaitingWrite[] = [];

  const writeWaiting = async (): Promise<void> => {
    const together = waiting;
    waiting = [];
    try {
      const results = await writeNow(() => together.map(({ work }) => work()));
      for (const [index, { resolve }] of together.entries()) resolve(results[index]);
    } catch (fault) {
      // The store refuses all of them; any other fault is of one, which is to harm no other.
      const isOfAll = together.length === 1 || fault instanceof ReadModelStoreUnavailable;
      for (const { work, resolve, reject } of together) {
        if (isOfAll) reject(fault);
        else await writeNow(work).then(resolve, reject);
      }
    }
  };

  return {
    statement,
    attemptOnce,
    read: attemptUntilTimeout,
    snapshot: (work) => attemptUntilTimeout(() => inTransaction('BEGIN', work)),
    write: (work) => attemptUntilTimeout(() => inTransaction('BEGIN IMMEDIATE', work)),
    writeDurably: (work) =>
      new Promise((resolve, reject) => {
        waiting.push({ work, resolve: resolve as WaitingWrite['resolve'], reject });
        if (waiting.length === 1) setImmediate(() => void writeWaiting());
      }),
    close: () => {
      if (connection.isOpen) connection.close();
    },
  };
};

// With NORMAL a commit survives the end of the process, but a power cut may take the last ones.
// On macOS only `fullfsync` makes a sync reach the disk.
const pragmas = { derived: 'synchronous = NORMAL', durable: 'synchronous = FULL; PRAGMA secure_delete = ON' } as const;

const connect = async (file: string, clock: Clock, durability: keyof typeof pragmas) => {
  let connection;
  try {
    mkdirSync(dirname(file), { recursive: true });
    connection = new DatabaseSync(file, { timeout: timeoutMs });
    const version = (connection.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
    if (version > schemaVersion) {
      throw new ReadModelStoreUnavailable(
        `${file} was written by a newer version of the service. Start that version, or restore a backup from before the upgrade`,
      );
    }
    await switchToWal(connection, clock);
    connection.exec(
      `PRAGMA ${pragmas[durability]}; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY`,
    );
    if (version < schemaVersion) connection.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
    connection.exec(`PRAGMA busy_timeout = ${String(blockingMs)}`);
    return connection;
  } catch (fault) {
    connection?.close();
    if (fault instanceof ReadModelStoreUnavailable) throw fault;
    throw toUnavailable(file, fault);
  }
};

/** SQLite takes its lock on the whole file with the next write, also with one that changes nothing. */
const keepOthersOut = (connection: { exec(sql: string): void; close(): void }, file: string): void => {
  try {
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
  } catch (fault) {
    connection.close();
    throw busyCodes.has(sqliteCode(fault))
      ? new ReadModelStoreInUse(`${file} is in use`, { cause: fault })
      : toUnavailable(file, fault);
  }
};

/**
 * Repeats the switch, because SQLite answers "busy" without waiting when two processes make the
 * file at the same time.
 */
const switchToWal = async (connection: { exec(sql: string): void }, clock: Clock): Promise<void> => {
  for (let attempts = 1; ; attempts += 1) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (fault) {
      if (!busyCodes.has(sqliteCode(fault)) || attempts === 100) throw fault;
    }
    await sleep(clock, blockingMs);
  }
};

/** A start that fails says no more than the message, so that names the file and SQLite's reason. */
export const toUnavailable = (file: string, fault: unknown): ReadModelStoreUnavailable =>
  new ReadModelStoreUnavailable(`${file} cannot be used: ${(fault as Error).message}`, { cause: fault });
