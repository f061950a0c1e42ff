import { isoTime } from '../../../platform/clock.js';
import type { EventMetadata, JsonObject } from '../../envelope.js';
import {
  NO_STREAM,
  PAGE_BYTES,
  type EventFilter,
  type LogSlice,
  type ReadStreamOptions,
  type StoredEvent,
  type StreamSlice,
} from '../eventStore.js';
import type { LiveEvent } from '../recentEvents.js';
import { prepareRows, type Database, type Statement } from './database.js';
import type { EventTypeIndex } from './eventTypeIndex.js';
import type { WrittenEvent } from './logWriter.js';

/** Reads the log, synchronously. */
export interface LogReader {
  /** The last committed position; 0 when the log is empty. */
  head(): number;
  readStream(stream: string, options: ReadStreamOptions): StreamSlice;
  /**
   * Up to `max` matching events with positions in (`after`, `through`], and about `PAGE_BYTES` of them. The slice's
   * position is `through` unless that cut it short.
   */
  read(range: { readonly after: number; readonly through: number }, max: number, filter: EventFilter | undefined): LogSlice;
  /**
   * The position of the last matching event, or a later position up to which no other event
   * matches.
   */
  lastPosition(filter: EventFilter | undefined): number;
  /** The events with positions in (`after`, `through`], as they were written; `null` when they take more than `PAGE_BYTES`. */
  readWritten(after: number, through: number): readonly WrittenEvent[] | null;
  /** The streams that were dropped, each with the revision up to which it was. */
  dropped(): ReadonlyMap<string, bigint>;
}

type Row = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  typeKey: number,
  schemaVersion: number,
  recordedAt: number,
  data: string,
  metadata: string,
];

/**
 * How many positions `lastPosition` reads. Every live subscription has long passed the events
 * before them.
 */
const LAST_POSITION_WINDOW = 256;

/** So few that they are not much, however large each is; reading more of them at once is no faster. */
const ROWS_AT_ONCE = 32;

const columns = 'position, streams.name, revision, lower(hex(id)), kind, schema_version, recorded_at, data, metadata';

export const createLogReader = (database: Database, typeIndex: EventTypeIndex): LogReader => {
  const prepare = (sql: string): Statement => prepareRows(database, sql);

  const selectHead = prepare('SELECT max(position) FROM events');
  const selectStream = prepare(
    'SELECT key, (SELECT max(revision) FROM events WHERE stream = key), dropped FROM streams WHERE name = ?',
  );

  const selectDropped = prepare('SELECT name, dropped FROM streams WHERE dropped IS NOT NULL');

  const fromStream = `SELECT ${columns} FROM events JOIN streams ON streams.key = stream WHERE stream = ?`;
  const selectForwards = prepare(`${fromStream} AND revision BETWEEN ? AND ? ORDER BY revision LIMIT ?`);
  const selectBackwards = prepare(`${fromStream} AND revision BETWEEN ? AND ? ORDER BY revision DESC LIMIT ?`);

  // CROSS JOIN makes SQLite walk along the log and find the stream of each event, not the other way
  // round.
  const fromLog = 'FROM events CROSS JOIN streams ON streams.key = stream WHERE position > ?1 AND position <= ?2';
  const ofTypes = 'AND kind IN (SELECT value FROM json_each(?4))';
  const withNames = 'AND EXISTS (SELECT 1 FROM json_each(?5) WHERE substr(streams.name, 1, length(value)) = value)';
  const variants = (select: string, order: string): { all: Statement; ofTypes: Statement; ofTypesAndNames: Statement } => ({
    all: prepare(`${select} ${fromLog} ${order}`),
    ofTypes: prepare(`${select} ${fromLog} ${ofTypes} ${order}`),
    ofTypesAndNames: prepare(`${select} ${fromLog} ${ofTypes} ${withNames} ${order}`),
  });
  const selectEvents = variants(`SELECT ${columns}`, 'ORDER BY position LIMIT ?3');
  const selectLast = variants('SELECT position', 'ORDER BY position DESC LIMIT ?3');

  const head = (): number => (selectHead.get() as [number | null])[0] ?? 0;

  const select = (
    statements: ReturnType<typeof variants>,
    [after, through]: readonly [number, number],
    max: number,
    filter: EventFilter | undefined,
  ): readonly unknown[] => {
    if (after >= through || max < 1) return [];
    if (filter === undefined) return statements.all.all(after, through, max);
    const { keys, needsNameCheck } = typeIndex.matching(filter);
    if (!needsNameCheck) return statements.ofTypes.all(after, through, max, keys);
    return statements.ofTypesAndNames.all(after, through, max, keys, JSON.stringify(filter.streamPrefixes));
  };

  const toWritten = (row: unknown): WrittenEvent => {
    const [position, stream, revision, id, typeKey, schemaVersion, recordedAt, data, metadata] = row as Row;
    const type = typeIndex.typeOf(typeKey);
    return { position, stream, revision, id: uuidText(id), type, schemaVersion, recordedAt, data, metadata };
  };

  /** Up to `max` events, a few rows at a time: their size is known only once they are read. */
  const readPage = (
    max: number,
    next: (last: StoredEvent | undefined, count: number) => readonly unknown[],
  ): { readonly events: readonly StoredEvent[]; readonly bytes: number; readonly isCut: boolean } => {
    const events: StoredEvent[] = [];
    let bytes = 0;
    while (events.length < max && bytes < PAGE_BYTES) {
      const count = Math.min(max - events.length, ROWS_AT_ONCE);
      const rows = next(events.at(-1), count);
      for (const row of rows) {
        const written = toWritten(row);
        bytes += written.data.length + written.metadata.length;
        events.push(toStored(written));
      }
      if (rows.length < count) return { events, bytes, isCut: false };
    }
    return { events, bytes, isCut: true };
  };

  return {
    head,

    readStream: (stream, { direction = 'forwards', from, max = 1_000 }) => {
      const found = selectStream.get(stream) as [number, number | null, number | null] | undefined;
      if (found === undefined) return { events: [], head: NO_STREAM };
      const [key, newest, dropped] = found;
      const first = (dropped ?? -1) + 1;
      const last = Math.max(newest ?? -1, first - 1);
      const bound = from === undefined ? (direction === 'forwards' ? 0 : last) : Number(from);
      const { events } = readPage(max, (before, count) =>
        direction === 'backwards'
          ? selectBackwards.all(key, first, before === undefined ? Math.min(bound, last) : Number(before.revision) - 1, count)
          : selectForwards.all(key, before === undefined ? Math.max(bound, first) : Number(before.revision) + 1, last, count),
      );
      return { events, head: BigInt(last) };
    },

    read: ({ after, through }, max, filter) => {
      const { events, bytes, isCut } = readPage(max, (before, count) =>
        select(selectEvents, [before === undefined ? after : Number(before.position), through], count, filter),
      );
      const position = isCut ? (events.at(-1)?.position ?? BigInt(after)) : BigInt(Math.max(after, through));
      return { events, position, bytes };
    },

    dropped: () =>
      new Map((selectDropped.all() as [string, number][]).map(([stream, revision]) => [stream, BigInt(revision)] as const)),

    lastPosition: (filter) => {
      const through = head();
      const after = Math.max(0, through - LAST_POSITION_WINDOW);
      const [found] = select(selectLast, [after, through], 1, filter) as [number][];
      return found?.[0] ?? after;
    },

    readWritten: (after, through) => {
      const events: WrittenEvent[] = [];
      for (let bytes = 0; bytes <= PAGE_BYTES;) {
        const rows = select(selectEvents, [events.at(-1)?.position ?? after, through], ROWS_AT_ONCE, undefined);
        for (const row of rows) {
          const written = toWritten(row);
          bytes += written.data.length + written.metadata.length;
          events.push(written);
        }
        if (rows.length < ROWS_AT_ONCE) return events;
      }
      return null;
    },
  };
};

/** Field by field: with a rest of the fields it takes four times as long. */
const toStored = (written: WrittenEvent): StoredEvent => {
  const { stream, id, type, schemaVersion, revision, position, recordedAt, data, metadata } = written;
  return {
    stream,
    id,
    type,
    schemaVersion,
    data: JSON.parse(data) as JsonObject,
    metadata: JSON.parse(metadata) as EventMetadata,
    revision: BigInt(revision),
    position: BigInt(position),
    recordedAt: isoTime(recordedAt),
  };
};

/** Its text is kept until the event is asked for, and the event from then on. */
export const toLive = (event: WrittenEvent): LiveEvent => {
  const { stream, revision, type, position, data, metadata } = event;
  let kept: { readonly written: WrittenEvent } | { readonly stored: StoredEvent } = { written: event };
  const decoded = (): StoredEvent => {
    if ('written' in kept) kept = { stored: toStored(kept.written) };
    return kept.stored;
  };
  return {
    stream,
    revision: BigInt(revision),
    type,
    position: BigInt(position),
    bytes: data.length + metadata.length,
    decoded,
  };
};

const uuidText = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
