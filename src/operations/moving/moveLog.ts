import { createHash } from 'node:crypto';
import { encodeEvents } from '../../events/store/encodeEvents.js';
import {
  NO_STREAM,
  START,
  WrongExpectedRevision,
  type CopyTarget,
  type EventStore,
  type LogSlice,
  type StoredEvent,
} from '../../events/store/eventStore.js';
import { CannotMove, NotEmpty, NotEqual } from './problems.js';

type ReadableLog = Pick<EventStore, 'readAll'>;

const pageSize = 2_000;

/** The events of a log after a position, in its order. While one page is used, the next is read. */
export async function* pagesAfter(log: ReadableLog, position: bigint): AsyncGenerator<readonly StoredEvent[], void> {
  const read = (after: bigint): Promise<LogSlice> => {
    const page = log.readAll({ after, max: pageSize });
    // Who stops before it arrives does not see its fault.
    page.catch(() => undefined);
    return page;
  };
  for (let next = read(position); ;) {
    const { events, position: reached } = await next;
    const isLast = events.length < pageSize;
    if (!isLast) next = read(reached);
    if (events.length > 0) yield events;
    if (isLast) return;
  }
}

/**
 * Copies what is after the position `from` of the old log.
 * @param onCopied called when everything up to this position of the old log is in the new one
 */
export const copyLog = async (
  old: ReadableLog,
  target: CopyTarget,
  from: bigint,
  onCopied: (position: bigint, events: number) => Promise<void>,
): Promise<void> => {
  for await (const events of pagesAfter(old, from)) {
    try {
      await target.copy(events);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      if (error.actual === NO_STREAM) throw new CannotMove(`the stream ${error.stream} lacks its first events`);
      throw new NotEmpty(`the new event store has other events in the stream ${error.stream}`);
    }
    await onCopied(events.at(-1)?.position ?? from, events.length);
  }
};

export interface ComparedLogs {
  readonly events: number;
  /** Of every event in order: stream, revision, id, type, version, time, data and metadata. */
  readonly digest: string;
  /** By the positions asked for: which one of the new log says the same. */
  readonly positions: ReadonlyMap<bigint, bigint>;
}

/**
 * Reads both logs to their ends and compares them event by event.
 * @param positions of the old log
 * @throws NotEqual
 */
export const compareLogs = async (
  old: ReadableLog,
  target: ReadableLog,
  positions: readonly bigint[],
  onCompared: (events: number) => void,
): Promise<ComparedLogs> => {
  const digest = createHash('sha256');
  const translated = new Map<bigint, bigint>();
  const waiting = [...new Set(positions)].sort((a, b) => (a < b ? -1 : 1));
  const copies = eventsOf(target);
  let count = 0;
  let reached = START;
  /** Positions before that of an event lead to the event before it. */
  const translate = (before: bigint | null): void => {
    for (let next = waiting[0]; next !== undefined && (before === null || next < before); next = waiting[0]) {
      translated.set(next, reached);
      waiting.shift();
    }
  };
  for await (const events of pagesAfter(old, START)) {
    for (const event of events) {
      const copy = (await copies.next()).value ?? null;
      const text = textOf(event);
      if (copy === null || textOf(copy) !== text) throw new NotEqual(`event ${String(event.revision)} of ${event.stream}`);
      digest.update(text);
      translate(event.position);
      reached = copy.position;
    }
    count += events.length;
    onCompared(events.length);
  }
  const { value: more } = await copies.next();
  if (more !== undefined) throw new NotEqual(`event ${String(more.revision)} of ${more.stream}, which only the new log has`);
  translate(null);
  return { events: count, digest: digest.digest('hex'), positions: translated };
};

async function* eventsOf(log: ReadableLog): AsyncGenerator<StoredEvent, undefined> {
  for await (const events of pagesAfter(log, START)) yield* events;
  return undefined;
}

const textOf = (event: StoredEvent): string => {
  const { stream, revision, recordedAt } = event;
  return `${JSON.stringify([stream, String(revision), recordedAt, encodeEvents(stream, [event])])}\n`;
};
