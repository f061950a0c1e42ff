import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { sleep, type Clock } from '../../../platform/clock.js';
import { ReadModelStoreUnavailable } from '../readModelStore.js';

/** What a statement takes. A number is stored as an integer only when it is one; `undefined` would silently be NULL. */
export type SqlValue = string | bigint | number | null | Uint8Array;

/** A prepared statement that returns integers as bigint. */
export interface Statement {
  run(...parameters: readonly SqlValue[]): { readonly changes: bigint };
  get(...parameters: readonly SqlValue[]): unknown;
  all(...parameters: readonly SqlValue[]): unknown[];
}

/** The SQLite file, shared with other processes. */
export interface Database {
  /** The statement of this text, made once. */
  readonly statement: (sql: string) => Statement;
  /** Runs `work` now or not at all. */
  peek<Result>(work: () => Result): Result;
  /** Runs `work`, again when another process holds the file, for up to 10 s. */
  read<Result>(work: () => Result): Promise<Result>;
  /** As `read`; all statements of `work` see one moment. */
  snapshot<Result>(work: () => Result): Promise<Result>;
  /** As `read`, in one transaction that writes: all of it or, when `work` throws, nothing. */
  write<Result>(work: () => Result): Promise<Result>;
  close(): void;
}

const schemaVersion = 1;

/**
 * `document.body` is NULL in a tombstone. `entry` is the index: one row per indexed field, value and document. Rows of a `model`
 * key that stands in `dropped` are what a publish left to be swept; keys are never used twice, so nobody can read them.
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

/** SQLite's primary result codes when another connection holds the file: BUSY, LOCKED. */
const heldCodes = new Set<number | null>([5, 6]);
/** Those of a store that cannot do its work, as opposed to a statement that is wrong: also NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB. */
const unavailable = new Set<number | null>([...heldCodes, 7, 8, 10, 11, 13, 14, 15, 26]);

/** How long one attempt may block the event loop, and how long attempts go on. */
const blockingMs = 5;
const patienceMs = 10_000;

export interface DatabaseOptions {
  /**
   * `derived` (the default): what a power cut takes is folded again. `lasting`: a commit survives one, and what is deleted is
   * overwritten.
   */
  readonly kept?: 'derived' | 'lasting';
}

/**
 * Opens the file, making it and its folder when they are missing.
 *
 * @throws ReadModelStoreUnavailable when it cannot be opened, is not a database, or was written by a newer version of the service.
 */
export const openDatabase = async (file: string, clock: Clock, { kept = 'derived' }: DatabaseOptions = {}): Promise<Database> => {
  const connection = await connect(file, clock, kept);
  const statements = new Map<string, Statement>();

  const statement = (sql: string): Statement => {
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      const made = connection.prepare(sql);
      made.setReadBigInts(true);
      // Its types do not know that the count of changes becomes a bigint as well.
      prepared = made as unknown as Statement;
      statements.set(sql, prepared);
    }
    return prepared;
  };

  const peek = <Result>(work: () => Result): Result => {
    if (!connection.isOpen) throw new ReadModelStoreUnavailable('the read-model store is closed');
    try {
      return work();
    } catch (fault) {
      throw unavailable.has(resultCode(fault)) ? refused(fault) : fault;
    }
  };

  const attempt = async <Result>(work: () => Result): Promise<Result> => {
    const giveUpAt = clock.now() + patienceMs;
    for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 100)) {
      try {
        return peek(work);
      } catch (fault) {
        const held = fault instanceof ReadModelStoreUnavailable && heldCodes.has(resultCode(fault.cause));
        if (!held || clock.now() >= giveUpAt) throw fault;
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
      // A full disk may have ended the transaction already.
      if (connection.isTransaction) statement('ROLLBACK').run();
      throw fault;
    }
  };

  return {
    statement,
    peek,
    read: attempt,
    snapshot: (work) => attempt(() => inTransaction('BEGIN', work)),
    write: (work) => attempt(() => inTransaction('BEGIN IMMEDIATE', work)),
    close: () => {
      if (connection.isOpen) connection.close();
    },
  };
};

// NORMAL: a commit survives the end of the process; after a power cut the last ones may be missing.
const pragmas = { derived: 'synchronous = NORMAL', lasting: 'synchronous = FULL; PRAGMA secure_delete = ON' } as const;

const connect = async (file: string, clock: Clock, kept: keyof typeof pragmas) => {
  let connection;
  try {
    mkdirSync(dirname(file), { recursive: true });
    connection = new DatabaseSync(file, { timeout: patienceMs });
    const version = (connection.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
    if (version > schemaVersion) throw new ReadModelStoreUnavailable(`${file} was written by a newer version of the service`);
    await switchToWal(connection, clock);
    connection.exec(`PRAGMA ${pragmas[kept]}; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY`);
    if (version < schemaVersion) connection.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
    connection.exec(`PRAGMA busy_timeout = ${String(blockingMs)}`);
    return connection;
  } catch (fault) {
    connection?.close();
    throw fault instanceof ReadModelStoreUnavailable ? fault : refused(fault);
  }
};

/** Two processes that make the file at once: SQLite answers "busy" to this one switch without waiting. */
const switchToWal = async (connection: { exec(sql: string): void }, clock: Clock): Promise<void> => {
  for (let attempts = 1; ; attempts += 1) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (fault) {
      if (!heldCodes.has(resultCode(fault)) || attempts === 100) throw fault;
    }
    await sleep(clock, blockingMs);
  }
};

/** SQLite's primary result code of a fault; `null` when it is none of SQLite's. */
const resultCode = (fault: unknown): number | null =>
  typeof fault === 'object' && fault !== null && 'errcode' in fault && typeof fault.errcode === 'number'
    ? fault.errcode & 0xff
    : null;

const refused = (fault: unknown): ReadModelStoreUnavailable =>
  new ReadModelStoreUnavailable('the read-model store cannot be used', { cause: fault });
