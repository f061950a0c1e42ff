import { createHash, randomUUID } from 'node:crypto';
import { encodeEvents } from '../../events/store/encodeEvents.js';
import {
  NO_STREAM,
  START,
  WrongExpectedRevision,
  type CopyTarget,
  type LogSlice,
  type StoredEvent,
} from '../../events/store/eventStore.js';
import { NotEmpty, NotEqual } from './problems.js';

type ReadableLog = Pick<CopyTarget, 'readAll' | 'dropped'>;

const pageSize = 2_000;

/** Of streams that were dropped, the revision up to which they were. */
type Dropped = ReadonlyMap<string, bigint>;

/**
 * The events of a log after a position, in its order, without those of dropped streams, which a log
 * may hold for a while yet. While one page is used, the next is read.
 */
async function* pagesAfter(log: ReadableLog, position: bigint, dropped: Dropped): AsyncGenerator<LogSlice, void> {
  const read = (after: bigint): Promise<LogSlice> => {
    const page = log.readAll({ after, max: pageSize });
    // Who stops before it arrives does not see its fault.
    page.catch(() => undefined);
    return page;
  };
  for (let next = read(position); ;) {
    const page = await next;
    const isLast = page.events.length === 0;
    if (!isLast) next = read(page.position);
    const events = page.events.filter(({ stream, revision }) => revision > (dropped.get(stream) ?? NO_STREAM));
    yield { ...page, events };
    if (isLast) return;
  }
}

/**
 * Copies what is after the position `from` of the old log.
 * @param onCopied called when everything up to this position of the old log is in the new one
 */
export const copyLog = async (
  old: CopyTarget,
  target: CopyTarget,
  from: bigint,
  onCopied: (position: bigint, events: number) => Promise<void>,
): Promise<void> => {
  const dropped = await old.dropped();
  const there = await target.dropped();
  for (const [stream, head] of dropped) if (there.get(stream) !== head) await copyDropped(target, stream, head);
  for await (const { events, position } of pagesAfter(old, from, dropped)) {
    try {
      await target.copy(events);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      throw new NotEmpty(`the new event store has other events in the stream ${error.stream}`);
    }
    await onCopied(position, events.length);
  }
};

/**
 * Makes a stream as long as one that was dropped, and drops it: it is never new again, and goes on at
 * the same revision.
 */
const copyDropped = async (target: CopyTarget, stream: string, last: bigint): Promise<void> => {
  const { head } = await target.readStream(stream, { max: 1 });
  if (head > last) return;
  const count = Number(last - head);
  const places = Array.from({ length: count }, (_, index): StoredEvent => placeholder(stream, head + 1n + BigInt(index)));
  if (count > 0) await target.copy(places);
  await target.drop(stream, last);
};

/** Nobody reads it: it is dropped at once. */
const placeholder = (stream: string, revision: bigint): StoredEvent => ({
  id: randomUUID(),
  type: 'Dropped',
  schemaVersion: 1,
  data: {},
  metadata: {
    at: '1970-01-01T00:00:00.000Z',
    actor: { subject: 'move', role: 'system', via: 'operator' },
    requestId: 'move',
    correlationId: 'move',
    causationId: 'move',
  },
  stream,
  revision,
  position: START,
  recordedAt: '1970-01-01T00:00:00.000Z',
});

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
  const dropped = await old.dropped();
  const digest = createHash('sha256');
  for (const [stream, head] of [...dropped].sort()) digest.update(`${JSON.stringify([stream, String(head)])}\n`);
  const translated = new Map<bigint, bigint>();
  const waiting = [...new Set(positions)].sort((a, b) => (a < b ? -1 : 1));
  const copies = eventsOf(target, dropped);
  let count = 0;
  let reached = START;
  /** Positions before that of an event lead to the event before it. */
  const translate = (before: bigint | null): void => {
    for (let next = waiting[0]; next !== undefined && (before === null || next < before); next = waiting[0]) {
      translated.set(next, reached);
      waiting.shift();
    }
  };
  for await (const { events } of pagesAfter(old, START, dropped)) {
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
  const droppedThere = await target.dropped();
  for (const [stream, head] of dropped)
    if (droppedThere.get(stream) !== head) throw new NotEqual(`the stream ${stream}, which was dropped`);
  return { events: count, digest: digest.digest('hex'), positions: translated };
};

async function* eventsOf(log: ReadableLog, dropped: Dropped): AsyncGenerator<StoredEvent, undefined> {
  for await (const { events } of pagesAfter(log, START, dropped)) yield* events;
  return undefined;
}

const textOf = (event: StoredEvent): string => {
  const { stream, revision, recordedAt } = event;
  return `${JSON.stringify([stream, String(revision), recordedAt, encodeEvents(stream, [event])])}\n`;
};
