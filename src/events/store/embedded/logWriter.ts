import type { EncodedEvent } from '../encodeEvents.js';
import { CorruptedRetry, NO_STREAM, WrongExpectedRevision, type AppendResult, type ExpectedRevision } from '../eventStore.js';
import { isConstraint, prepareRows, type Database } from './database.js';
import type { Kinds } from './kinds.js';

export interface Append {
  readonly stream: string;
  readonly events: readonly EncodedEvent[];
  readonly expected: ExpectedRevision;
}

/** Writing to the log, synchronously. */
export interface LogWriter {
  /** Begins a transaction, which sees everything committed so far and lets nobody else write. */
  begin(): Transaction;
}

export interface Transaction {
  /**
   * Appends, recording it at `now` (epoch ms) or the stream's last time if that is later.
   * @throws WrongExpectedRevision, CorruptedRetry: nothing of this append was written, the transaction goes on.
   */
  append(append: Append, now: number): AppendResult;
  /** The last position of the log, with what was appended. */
  position(): number;
  /** Makes everything appended durable. */
  commit(): void;
  rollback(): void;
}

/** The end of a stream. */
interface Tail {
  readonly key: number;
  readonly revision: number;
  readonly recordedAt: number;
}

/** Streams whose end is remembered, of about 200 bytes each; all are forgotten when there are more. */
const REMEMBERED_TAILS = 10_000;

export const createLogWriter = (database: Database, kinds: Kinds, head: () => number): LogWriter => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const insertStream = prepareRows(database, 'INSERT INTO streams (name) VALUES (?) RETURNING key');
  const insertEvent = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const deleteAfter = database.prepare('DELETE FROM events WHERE position > ?');
  const selectPlace = prepareRows(database, 'SELECT revision, position FROM events WHERE id = ? AND stream = ?');
  const selectTail = prepareRows(
    database,
    `SELECT key, revision, recorded_at FROM streams JOIN events ON stream = key WHERE name = ? ORDER BY revision DESC LIMIT 1`,
  );

  /** The ends of streams, right as long as nobody else has written since `position`. */
  const tails = new Map<string, Tail>();
  let position = 0;

  const tailOf = (stream: string): Tail | undefined => {
    const remembered = tails.get(stream);
    if (remembered !== undefined) return remembered;
    const row = selectTail.get(stream) as [number, number, number] | undefined;
    return row === undefined ? undefined : { key: row[0], revision: row[1], recordedAt: row[2] };
  };

  const append = ({ stream, events, expected }: Append, now: number): AppendResult => {
    const tail = tailOf(stream);
    const last = tail === undefined ? NO_STREAM : BigInt(tail.revision);
    if (typeof expected === 'bigint' ? expected > last : expected === 'exists' && tail === undefined) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    if (tail === undefined) {
      const [key] = insertStream.get(stream) as [number];
      return insert(stream, { key, revision: -1, recordedAt: 0 }, events, now);
    }
    if (typeof expected === 'bigint' && expected < last) return repetition({ stream, events, expected }, tail);
    const start = position;
    try {
      return insert(stream, tail, events, now);
    } catch (error) {
      if (!isConstraint(error)) throw error;
      // An id is there already. That is rare, so it costs nothing until it happens.
      deleteAfter.run(start);
      position = start;
      return repetition({ stream, events, expected }, tail);
    }
  };

  const insert = (
    stream: string,
    { key, revision: last, recordedAt }: Tail,
    events: readonly EncodedEvent[],
    now: number,
  ): AppendResult => {
    const at = Math.max(now, recordedAt);
    let revision = last;
    for (const { id, type, schemaVersion, data, metadata } of events) {
      const kind = kinds.keyFor(stream, type);
      insertEvent.run(position + 1, key, revision + 1, uuidBytes(id), kind, schemaVersion, at, data, metadata);
      position += 1;
      revision += 1;
    }
    if (tails.size === REMEMBERED_TAILS) tails.clear();
    tails.set(stream, { key, revision, recordedAt: at });
    return { revision: BigInt(revision), position: BigInt(position) };
  };

  /**
   * The result of the append that this one repeats.
   * @throws WrongExpectedRevision: it repeats none, but was decided on old facts. CorruptedRetry: it repeats one in part.
   */
  const repetition = ({ stream, events, expected }: Append, { key, revision }: Tail): AppendResult => {
    const last = BigInt(revision);
    const places = events.map(({ id }) => selectPlace.get(uuidBytes(id), key) as [number, number] | undefined);
    const first = places[0]?.[0];
    if (typeof expected === 'bigint' && expected < last && first !== Number(expected) + 1) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    const end = places.at(-1);
    const whole = first !== undefined && places.every((place, index) => place?.[0] === first + index);
    if (!whole || end === undefined || expected === last) throw new CorruptedRetry(stream);
    return { revision: BigInt(end[0]), position: BigInt(end[1]) };
  };

  const forget = (): void => {
    tails.clear();
    kinds.forget();
  };

  return {
    begin: () => {
      begin.run();
      try {
        const start = head();
        if (start !== position) tails.clear();
        position = start;
      } catch (error) {
        rollback.run();
        throw error;
      }
      return {
        append,
        position: () => position,
        commit: () => {
          commit.run();
        },
        rollback: () => {
          forget();
          // After some faults, such as a full disk, SQLite has rolled back by itself.
          if (database.isTransaction) rollback.run();
        },
      };
    },
  };
};

const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll('-', ''), 'hex');
