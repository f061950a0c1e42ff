import { LRUCache } from 'lru-cache';
import { EARLIEST, FIRST_REVISION, NO_STREAM, type EventStore, type StoredEvent, type StreamSlice } from './eventStore.js';
import type { LiveLog } from './liveLog.js';
import type { LiveEvent } from './recentEvents.js';
import { createCache } from '../../platform/cache.js';

/**
 * The streams that are read again and again, each with its head and last events in memory, fed by
 * the live log from before their first read on. Once the live log has everything that was committed
 * before a read came in, the read is answered from memory
 * (docs/adr/0040-streams-in-use.md).
 */
export interface StreamsInUse {
  /** `EventStore.moment`. */
  moment: EventStore['moment'];
  /** `EventStore.readStream`. */
  readStream: EventStore['readStream'];
  /** This process has appended to the stream, up to `position`: from now on it is known so far. */
  appended(stream: string, position: bigint): void;
  /** The stream's events are no longer those in memory. */
  forget(stream: string): void;
}

/** A stream with its events after the revision `floor`. */
interface InUse {
  floor: bigint;
  head: bigint;
  events: LiveEvent[];
  bytes: number;
  /** Position of the last append of this process. */
  appended: bigint;
}

/** Folds that are further behind read the stream. */
const MAX_EVENTS = 8;
const MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of a stream beside its name and its events, by estimate. */
const overhead = 400;
/** What an event takes for each byte of its text, decoded. */
const DECODED = 3;
/** Who asks for names at random must not drive out what others use. */
const MAX_ABSENT = 1_000;

export const createStreamsInUse = (parts: {
  readonly live: LiveLog;
  readonly readStream: EventStore['readStream'];
  /**
   * Whether `live` has everything that was committed before the call or, given a position, only
   * that. When it has not in time, the stream is read.
   */
  readonly reach: (position: bigint | null) => boolean | Promise<boolean>;
}): StreamsInUse => {
  const { live, readStream: readFromStore, reach } = parts;
  const present = new LRUCache<string, InUse>({ maxSize: MAX_BYTES });
  const absent = createCache<InUse>(MAX_ABSENT);
  /** What is committed to a stream while it is read for the first time, and appended by this process. */
  const firstReads = new Map<string, { readonly events: LiveEvent[]; appended: bigint }>();
  let lastMoment = EARLIEST;
  /** The last moment up to which `live` has everything that was committed. */
  let reachedMoment = EARLIEST;

  const keep = (stream: string, inUse: InUse): void => {
    if (inUse.head === NO_STREAM) {
      absent.set(stream, inUse);
      return;
    }
    absent.delete(stream);
    present.set(stream, inUse, { size: overhead + 2 * stream.length + DECODED * inUse.bytes });
  };

  const forget = (stream: string): void => {
    present.delete(stream);
    absent.delete(stream);
    firstReads.delete(stream);
  };

  const add = (event: LiveEvent): void => {
    const { stream, revision, bytes } = event;
    firstReads.get(stream)?.events.push(event);
    const inUse = present.peek(stream) ?? absent.peek(stream);
    if (inUse === undefined || revision <= inUse.head) return;
    if (revision !== inUse.head + 1n) {
      forget(stream);
      return;
    }
    inUse.events.push(event);
    inUse.bytes += bytes;
    inUse.head = revision;
    if (inUse.events.length > 2 * MAX_EVENTS) {
      const dropped = inUse.events.splice(0, MAX_EVENTS);
      inUse.bytes -= dropped.reduce((sum, each) => sum + each.bytes, 0);
      inUse.floor = dropped.at(-1)?.revision ?? inUse.floor;
    }
    keep(stream, inUse);
  };

  live.listen({
    added: (events) => {
      events.forEach(add);
    },
    begun: () => {
      present.clear();
      absent.clear();
      firstReads.clear();
    },
  });

  /** Reads the stream, and keeps it from then on. */
  const readFirst: EventStore['readStream'] = async (stream, options) => {
    const isFirst = live.start() !== null && !firstReads.has(stream) && inUseOf(stream) === undefined;
    if (!isFirst) return readFromStore(stream, options);
    const meanwhile = { events: new Array<LiveEvent>(), appended: 0n };
    firstReads.set(stream, meanwhile);
    try {
      const slice = await readFromStore(stream, options);
      if (firstReads.get(stream) === meanwhile) {
        keep(stream, { floor: slice.head, head: slice.head, events: [], bytes: 0, appended: meanwhile.appended });
        meanwhile.events.forEach(add);
      }
      return slice;
    } finally {
      if (firstReads.get(stream) === meanwhile) firstReads.delete(stream);
    }
  };

  const inUseOf = (stream: string): InUse | undefined => present.get(stream) ?? absent.get(stream);

  /** `null` when not everything that is asked for is in memory. */
  const fromMemory = (stream: string, from: bigint, max: number): StreamSlice | null => {
    const inUse = inUseOf(stream);
    if (inUse === undefined || from <= inUse.floor) return null;
    const { head, floor } = inUse;
    const events: StoredEvent[] = [];
    for (let index = Number(from - floor - 1n); index < inUse.events.length && events.length < max; index += 1) {
      const event = inUse.events[index]?.decoded() ?? null;
      if (event !== null) events.push(event);
    }
    return { events, head };
  };

  /** Whether `live` has everything that was committed before the call, which is after all moments so far. */
  const reachEnd = async (): Promise<boolean> => {
    const moment = lastMoment;
    const isReached = await reach(null);
    if (isReached && moment > reachedMoment) reachedMoment = moment;
    return isReached;
  };

  return {
    moment: () => (lastMoment += 1),

    readStream: async (stream, options = {}) => {
      const { direction = 'forwards', from = FIRST_REVISION, max = 1_000, since = Infinity } = options;
      if (direction === 'backwards') return readFromStore(stream, options);
      live.keepFollowing();
      const inUse = inUseOf(stream);
      if (inUse === undefined || from <= inUse.floor) return readFirst(stream, options);
      const reached = since <= reachedMoment ? reach(inUse.appended) : reachEnd();
      const isKnown = typeof reached === 'boolean' ? reached : await reached;
      return (isKnown ? fromMemory(stream, from, max) : null) ?? readFirst(stream, options);
    },

    appended: (stream, position) => {
      const inUse = present.peek(stream) ?? absent.peek(stream) ?? firstReads.get(stream);
      if (inUse !== undefined && position > inUse.appended) inUse.appended = position;
    },

    forget,
  };
};
