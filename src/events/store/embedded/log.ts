import { isoTime } from '../../../platform/clock.js';
import type { EventMetadata, JsonObject } from '../../envelope.js';
import type { EncodedEvent } from '../encodeEvents.js';
import { CorruptedRetry, NO_STREAM, WrongExpectedRevision } from '../eventStore.js';
import type {
  AppendResult,
  EventFilter,
  ExpectedRevision,
  LogSlice,
  ReadStreamOptions,
  StoredEvent,
  StreamSlice,
} from '../eventStore.js';
import { prepareRows, type Database } from './database.js';
import { createKinds } from './kinds.js';

export interface Append {
  readonly stream: string;
  readonly events: readonly EncodedEvent[];
  readonly expected: ExpectedRevision;
}

/** The log as SQL: what is stored and found, without queues, waiting or closing. Everything here is synchronous. */
export interface Log {
  /** The last position that was committed; 0 when the log is empty. */
  head(): number;
  /** Begins a write transaction, which sees everything committed so far and lets nobody else write. */
  begin(): Transaction;
  readStream(stream: string, options: ReadStreamOptions): StreamSlice;
  /** Up to `max` matching events with positions in (`after`, `through`]. `position` is `through` unless `max` cut it short. */
  read(range: { readonly after: number; readonly through: number }, max: number, filter: EventFilter | undefined): LogSlice;
  lastPosition(filter: EventFilter | undefined): number;
}

export interface Transaction {
  /** @throws WrongExpectedRevision, CorruptedRetry: nothing of this append was written, the transaction goes on. */
  append(append: Append, now: number): AppendResult;
  /** Makes everything appended durable. */
  commit(): void;
  rollback(): void;
}

type EventRow = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  kind: number,
  schemaVersion: number,
  recordedAt: number,
  data: string,
  metadata: string,
];

const columns = 'position, streams.name, revision, lower(hex(id)), kind, schema_version, recorded_at, data, metadata';
// CROSS JOIN keeps SQLite from turning the order of the tables around.
const fromLog = `SELECT ${columns} FROM events CROSS JOIN streams ON streams.key = events.stream WHERE position > ?1 AND position <= ?2`;

export const createLog = (database: Database): Log => {
  const kinds = createKinds(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  const selectHead = prepareRows(database, 'SELECT max(position) FROM events');
  const selectStream = prepareRows(
    database,
    'SELECT key, (SELECT max(revision) FROM events WHERE stream = key) FROM streams WHERE name = ?',
  );
  const insertStream = prepareRows(database, 'INSERT INTO streams (name) VALUES (?) RETURNING key');
  const selectRecordedAt = prepareRows(database, 'SELECT recorded_at FROM events WHERE stream = ? AND revision = ?');
  const selectById = prepareRows(database, 'SELECT revision, position FROM events WHERE id = ? AND stream = ?');
  const insertEvent = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const updateLast = database.prepare('UPDATE kinds SET last = ? WHERE key = ?');
  const selectLast = prepareRows(database, 'SELECT max(last) FROM kinds WHERE key IN (SELECT value FROM json_each(?))');

  const fromStream = `SELECT ${columns} FROM events JOIN streams ON streams.key = events.stream WHERE stream = ?`;
  const selectForwards = prepareRows(database, `${fromStream} AND revision BETWEEN ? AND ? ORDER BY revision LIMIT ?`);
  const selectBackwards = prepareRows(database, `${fromStream} AND revision <= ? ORDER BY revision DESC LIMIT ?`);
  const ofKinds = 'AND kind IN (SELECT value FROM json_each(?4))';
  const ofNames = 'AND EXISTS (SELECT 1 FROM json_each(?5) WHERE substr(streams.name, 1, length(value)) = value)';
  const inOrder = 'ORDER BY position LIMIT ?3';
  const selectAll = prepareRows(database, `${fromLog} ${inOrder}`);
  const selectOfKinds = prepareRows(database, `${fromLog} ${ofKinds} ${inOrder}`);
  const selectOfKindsAndNames = prepareRows(database, `${fromLog} ${ofKinds} ${ofNames} ${inOrder}`);

  const decode = (rows: readonly unknown[]): readonly StoredEvent[] =>
    rows.map((row) => {
      const [position, stream, revision, id, kind, schemaVersion, recordedAt, data, metadata] = row as EventRow;
      return {
        id: uuidText(id),
        type: kinds.typeOf(kind),
        schemaVersion,
        data: JSON.parse(data) as JsonObject,
        metadata: JSON.parse(metadata) as EventMetadata,
        stream,
        revision: BigInt(revision),
        position: BigInt(position),
        recordedAt: isoTime(recordedAt),
      };
    });

  const head = (): number => (selectHead.get() as [number | null])[0] ?? 0;

  /** The stream's key and last revision, or null when there is no such stream. */
  const find = (stream: string): { key: number; head: number } | null => {
    const row = selectStream.get(stream) as [number, number] | undefined;
    return row === undefined ? null : { key: row[0], head: row[1] };
  };

  return {
    head,

    begin: () => {
      begin.run();
      try {
        return createTransaction(head());
      } catch (error) {
        rollback.run();
        throw error;
      }
    },

    readStream: (stream, { direction = 'forwards', from, max = 1_000 }) => {
      const found = find(stream);
      if (found === null) return { events: [], head: NO_STREAM };
      const { key, head: last } = found;
      const bound = from === undefined ? (direction === 'forwards' ? 0 : last) : Number(from);
      const rows =
        direction === 'forwards'
          ? bound > last
            ? []
            : selectForwards.all(key, bound, last, max)
          : selectBackwards.all(key, Math.min(bound, last), max);
      return { events: decode(rows), head: BigInt(last) };
    },

    read: ({ after, through }, max, filter) => {
      const rows = select(after, through, max, filter);
      const events = decode(rows);
      const last = events.at(-1);
      return { events, position: events.length === max && last !== undefined ? last.position : BigInt(Math.max(after, through)) };
    },

    lastPosition: (filter) => {
      if (filter === undefined) return head();
      return (selectLast.get(kinds.matching(filter).keys) as [number | null])[0] ?? 0;
    },
  };

  function select(after: number, through: number, max: number, filter: EventFilter | undefined): readonly unknown[] {
    if (after >= through) return [];
    if (filter === undefined) return selectAll.all(after, through, max);
    const { keys, byName } = kinds.matching(filter);
    if (!byName) return selectOfKinds.all(after, through, max, keys);
    return selectOfKindsAndNames.all(after, through, max, keys, JSON.stringify(filter.streamPrefixes));
  }

  function createTransaction(start: number): Transaction {
    let position = start;
    /** The last position of each kind that this transaction wrote. */
    const lasts = new Map<number, number>();

    const insert = (
      stream: string,
      key: number,
      after: number,
      events: readonly EncodedEvent[],
      recordedAt: number,
    ): AppendResult => {
      let revision = after;
      for (const event of events) {
        revision += 1;
        position += 1;
        const kind = kinds.keyFor(stream, event.type);
        lasts.set(kind, position);
        insertEvent.run(
          position,
          key,
          revision,
          uuidBytes(event.id),
          kind,
          event.schemaVersion,
          recordedAt,
          event.data,
          event.metadata,
        );
      }
      return { revision: BigInt(revision), position: BigInt(position) };
    };

    return {
      append: ({ stream, events, expected }, now) => {
        const found = find(stream);
        if (found === null) {
          if (expected !== NO_STREAM && expected !== 'any') throw new WrongExpectedRevision(stream, expected, NO_STREAM);
          const [key] = insertStream.get(stream) as [number];
          return insert(stream, key, -1, events, now);
        }
        const { key, head: last } = found;
        const repeated = findRepetition(stream, key, BigInt(last), events, expected);
        if (repeated !== null) return repeated;
        const [recordedAt] = selectRecordedAt.get(key, last) as [number];
        return insert(stream, key, last, events, Math.max(now, recordedAt));
      },
      commit: () => {
        for (const [kind, last] of lasts) updateLast.run(last, kind);
        commit.run();
      },
      rollback: () => {
        kinds.forget();
        // After some faults, such as a full disk, SQLite has rolled back by itself.
        if (database.isTransaction) rollback.run();
      },
    };
  }

  /** The result of the append that this one repeats, or null when it is a new one that may go on after revision `last`. */
  function findRepetition(
    stream: string,
    key: number,
    last: bigint,
    events: readonly EncodedEvent[],
    expected: ExpectedRevision,
  ): AppendResult | null {
    const places = events.map(({ id }) => selectById.get(uuidBytes(id), key) as [number, number] | undefined);
    const first = places[0];
    const explicit = typeof expected === 'bigint';
    // Behind the head, it is either a repetition of what stands after `expected`, or a decision made on old facts.
    if (explicit && (expected > last || (expected < last && first?.[0] !== Number(expected) + 1))) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    if (places.every((place) => place === undefined)) return null;
    const whole = first !== undefined && places.every((place, index) => place?.[0] === first[0] + index);
    const [revision, position] = places.at(-1) ?? [];
    if (!whole || revision === undefined || position === undefined || expected === last) throw new CorruptedRetry(stream);
    return { revision: BigInt(revision), position: BigInt(position) };
  }
};

const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll('-', ''), 'hex');

const uuidText = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
