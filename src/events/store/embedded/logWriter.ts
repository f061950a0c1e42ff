import type { EncodedEvent } from '../encodeEvents.js';
import { CorruptedRetry, NO_STREAM, WrongExpectedRevision, type AppendResult, type ExpectedRevision } from '../eventStore.js';
import { BLOCKING_WAIT_MS, isConstraint, prepareRows, VERSION_WITH_DROPS, type Database } from './database.js';
import type { EventTypeIndex } from './eventTypeIndex.js';

export interface Append {
  readonly stream: string;
  readonly events: readonly EncodedEvent[];
  readonly expected: ExpectedRevision;
}

/** An event as it was written. */
export interface WrittenEvent extends EncodedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** Epoch ms. */
  readonly recordedAt: number;
}

/** Writes to the log, synchronously. */
export interface LogWriter {
  /**
   * Begins a write transaction. No other connection can write until it ends. While one writes, it
   * throws at once instead of blocking the thread.
   */
  begin(): Transaction;
  /** Takes note of what follows in the log, without a gap since `forget` was called. */
  readonly follow: (events: readonly WrittenEvent[]) => void;
  /** Keeps nothing in memory. */
  readonly forget: () => void;
}

export interface Transaction {
  /**
   * Appends events, recorded at `now` (epoch ms) or at the stream's last time if that is later.
   * @throws WrongExpectedRevision, CorruptedRetry: nothing of this append was written; the
   * transaction goes on.
   */
  append(append: Append, now: number): AppendResult;
  /**
   * Drops a stream, and deletes up to `max` of its events; resolves with how many were deleted.
   * @throws WrongExpectedRevision
   */
  drop(stream: string, head: bigint, max: number): number;
  /** What was appended, in order. */
  written(): readonly WrittenEvent[];
  /** Makes everything appended durable. */
  commit(): void;
  rollback(): void;
}

/** The last event of a stream. */
interface StreamHead {
  readonly key: number;
  readonly revision: number;
  readonly recordedAt: number;
}

/** Cached stream heads, of about 200 bytes each. The cache is cleared when it is full. */
const MAX_CACHED_HEADS = 10_000;

/** @param head the last position of the log; may call `follow` with what has led to it */
export const createLogWriter = (database: Database, typeIndex: EventTypeIndex, head: () => number): LogWriter => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const insertStream = prepareRows(database, 'INSERT INTO streams (name) VALUES (?) RETURNING key');
  const insertEvent = database.prepare("INSERT INTO events VALUES (?, ?, ?, unhex(?, '-'), ?, ?, ?, ?, ?)");
  const deleteAfter = database.prepare('DELETE FROM events WHERE position > ?');
  const selectById = prepareRows(database, "SELECT revision, position FROM events WHERE id = unhex(?, '-') AND stream = ?");
  const selectStreamHead = prepareRows(
    database,
    `SELECT key, coalesce(revision, dropped), coalesce(recorded_at, dropped_at)
     FROM streams LEFT JOIN events ON stream = key WHERE name = ? ORDER BY revision DESC LIMIT 1`,
  );
  const markDropped = database.prepare('UPDATE streams SET dropped = ?, dropped_at = ? WHERE key = ?');
  // The last event of the log stays until another follows: its position must not be given again.
  const deleteDropped = database.prepare(
    `DELETE FROM events WHERE position IN
     (SELECT position FROM events WHERE stream = ? AND revision <= ? AND position < ? ORDER BY revision LIMIT ?)`,
  );

  /** Heads of streams, as they were at `position`. */
  const heads = new Map<string, StreamHead>();
  let position = 0;
  let followed = 0;
  let written: WrittenEvent[] = [];

  const headOf = (stream: string): StreamHead | undefined => {
    const cached = heads.get(stream);
    if (cached !== undefined) return cached;
    const row = selectStreamHead.get(stream) as [number, number, number] | undefined;
    return row === undefined ? undefined : { key: row[0], revision: row[1], recordedAt: row[2] };
  };

  const append = ({ stream, events, expected }: Append, now: number): AppendResult => {
    const streamHead = headOf(stream);
    const last = streamHead === undefined ? NO_STREAM : BigInt(streamHead.revision);
    if (typeof expected === 'bigint' ? expected > last : expected === 'exists' && streamHead === undefined) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    if (streamHead === undefined) {
      const [key] = insertStream.get(stream) as [number];
      return insert(stream, { key, revision: -1, recordedAt: 0 }, events, now);
    }
    if (typeof expected === 'bigint' && expected < last) return resultOfRepetition({ stream, events, expected }, streamHead);
    const start = position;
    try {
      return insert(stream, streamHead, events, now);
    } catch (error) {
      if (!isConstraint(error)) throw error;
      // The stream holds one of the ids already. The unique index finds this rare case, so that
      // other appends pay nothing for it.
      deleteAfter.run(start);
      position = start;
      written = written.filter((event) => event.position <= start);
      return resultOfRepetition({ stream, events, expected }, streamHead);
    }
  };

  const insert = (
    stream: string,
    { key, revision: last, recordedAt }: StreamHead,
    events: readonly EncodedEvent[],
    now: number,
  ): AppendResult => {
    const at = Math.max(now, recordedAt);
    let revision = last;
    for (const event of events) {
      const { id, type, schemaVersion, data, metadata } = event;
      const typeKey = typeIndex.keyFor(stream, type);
      insertEvent.run(position + 1, key, revision + 1, id, typeKey, schemaVersion, at, data, metadata);
      position += 1;
      revision += 1;
      // Field by field: a spread makes a hidden class for each event, and takes a hundred times as long.
      written.push({ stream, revision, id, type, schemaVersion, data, metadata, position, recordedAt: at });
    }
    if (heads.size === MAX_CACHED_HEADS) heads.clear();
    heads.set(stream, { key, revision, recordedAt: at });
    return { revision: BigInt(revision), position: BigInt(position) };
  };

  const drop = (stream: string, expected: bigint, max: number): number => {
    const streamHead = headOf(stream);
    const last = BigInt(streamHead?.revision ?? NO_STREAM);
    if (streamHead === undefined || last !== expected) throw new WrongExpectedRevision(stream, expected, last);
    const { key, revision, recordedAt } = streamHead;
    database.exec(`PRAGMA user_version = ${String(VERSION_WITH_DROPS)}`);
    markDropped.run(revision, recordedAt, key);
    return deleteDropped.run(key, revision, position, max).changes;
  };

  /**
   * The result of the earlier append that this one repeats.
   * @throws WrongExpectedRevision when it repeats none and the stream has moved on; CorruptedRetry
   * when it repeats one in part.
   */
  const resultOfRepetition = ({ stream, events, expected }: Append, { key, revision }: StreamHead): AppendResult => {
    const last = BigInt(revision);
    const found = events.map(({ id }) => selectById.get(id, key) as [number, number] | undefined);
    const first = found[0]?.[0];
    if (typeof expected === 'bigint' && expected < last && first !== Number(expected) + 1) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    const end = found.at(-1);
    const whole = first !== undefined && found.every((row, index) => row?.[0] === first + index);
    if (!whole || end === undefined || expected === last) throw new CorruptedRetry(stream);
    return { revision: BigInt(end[0]), position: BigInt(end[1]) };
  };

  const invalidate = (): void => {
    heads.clear();
    typeIndex.invalidate();
  };

  /** After some faults, such as a full disk, SQLite has rolled back already. */
  const rollBack = (): void => {
    if (database.isTransaction) rollback.run();
  };

  const beginWithoutWaiting = (): void => {
    database.exec('PRAGMA busy_timeout = 0');
    try {
      begin.run();
    } finally {
      database.exec(`PRAGMA busy_timeout = ${String(BLOCKING_WAIT_MS)}`);
    }
  };

  return {
    begin: () => {
      beginWithoutWaiting();
      try {
        const end = head();
        if (end !== position && end !== followed) heads.clear();
        position = end;
        written = [];
      } catch (error) {
        rollBack();
        throw error;
      }
      return {
        append,
        drop,
        written: () => written,
        commit: () => {
          commit.run();
        },
        rollback: () => {
          invalidate();
          rollBack();
        },
      };
    },

    follow: (events) => {
      for (const { stream, revision, recordedAt, position: at } of events) {
        const streamHead = heads.get(stream);
        // What this writer has not written, another process has.
        if (at > position && streamHead !== undefined) heads.set(stream, { key: streamHead.key, revision, recordedAt });
      }
      followed = events.at(-1)?.position ?? followed;
    },

    forget: () => {
      heads.clear();
    },
  };
};
