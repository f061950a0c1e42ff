import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { Random } from '../../../platform/random.js';
import { isStreamName } from '../encodeEvents.js';
import {
  EventStoreClosed,
  NO_STREAM,
  type EventStore,
  type LogSlice,
  type StreamSlice,
  type SubscribeOptions,
} from '../eventStore.js';
import { createCalls } from './calls.js';
import { connect } from './connection.js';
import { createFollowing } from './following.js';
import { createKnownEvents } from './knownEvents.js';
import { fromWire } from './records.js';
import { createWire, type StreamRequest } from './wire.js';
import { createWriter } from './writer.js';

export interface EventStoreDbOptions {
  /** `esdb://` or `kurrentdb://`, one node or several; credentials and settings as EventStoreDB's connection strings have them. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
}

/**
 * The event store on EventStoreDB 23.10 or later, one node or a cluster (docs/adr/0008-eventstoredb-appends.md). It connects with its first
 * call, and whenever the connection is lost. Each call asks the leader, so that what was acknowledged is read.
 *
 * @throws Error when `url` is no connection string, or another EventStoreDB is open in this process
 */
export const createEventStoreDb = ({ url, clock, random, logger }: EventStoreDbOptions): EventStore => {
  const connection = connect(url, { clock, logger });
  const wire = createWire(connection);
  const calls = createCalls(wire, { clock, random });
  const known = createKnownEvents();
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let closed: Promise<void> | null = null;

  const ensureOpen = (): void => {
    if (closed !== null) throw new EventStoreClosed('the event store is closed');
  };

  /** Runs a call, for which `close` waits. */
  const use = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    ensureOpen();
    const done = call();
    underWay.add(done);
    try {
      return await done;
    } finally {
      underWay.delete(done);
    }
  };

  const readRecords = async (request: StreamRequest): Promise<StreamSlice> => {
    const { records, head } = await calls.read((signal) => wire.readStream(request, signal));
    const events = records.map(fromWire).filter((event) => event !== null);
    known.note(request.stream, request.backwards ? events.toReversed() : events);
    return { events, head: head ?? (await headOf(request.stream)) };
  };

  const lastRecord = { from: 'end', backwards: true, max: 1 } as const;

  /** For a server that does not tell the head with what it reads. */
  const headOf = async (stream: string): Promise<bigint> => {
    const { records } = await calls.read((signal) => wire.readStream({ stream, ...lastRecord }, signal));
    return records[0]?.revision ?? NO_STREAM;
  };

  const readStream: EventStore['readStream'] = async (stream, { direction = 'forwards', from, max = 1_000 } = {}) => {
    if (!isStreamName(stream)) return { events: [], head: NO_STREAM };
    const backwards = direction === 'backwards';
    if (max < 1) return { events: [], head: (await readRecords({ stream, ...lastRecord })).head };
    if (!backwards) return readRecords({ stream, from: from ?? 0n, backwards, max });
    if (from === undefined) return readRecords({ stream, from: 'end', backwards, max });
    // Read from beyond the end, the server counts back from there.
    const { head } = await readRecords({ stream, ...lastRecord });
    return head === NO_STREAM ? { events: [], head } : readRecords({ stream, from: from < head ? from : head, backwards, max });
  };

  const lastPosition = (): Promise<bigint> => calls.read((signal) => wire.lastPosition(signal));

  const append = createWriter({ calls, known, clock, readStream });
  const following = createFollowing({ wire, lastPosition, clock, random, logger });

  const subscription = (options: SubscribeOptions): AsyncGenerator<LogSlice, void> =>
    following.subscribe({ ...options, signal: AbortSignal.any([options.signal, closing.signal]) });

  const shutDown = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(underWay);
    await following.close();
    await connection.release();
  };

  return {
    append: (stream, events, expected) => use(() => append(stream, events, expected)),
    readStream: (stream, options) => use(() => readStream(stream, options)),
    readAll: (options) => use(() => following.readAll(options)),
    lastPosition: () => use(lastPosition),
    subscribe: (options) => {
      ensureOpen();
      return subscription(options);
    },
    close: () => (closed ??= shutDown()),
  };
};
