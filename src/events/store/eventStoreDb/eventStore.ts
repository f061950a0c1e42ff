import type { Clock } from '../../../platform/clock.js';
import { createIds } from '../../../platform/ids.js';
import type { Logger } from '../../../platform/logger.js';
import type { OutageLog } from '../../../platform/outageLog.js';
import type { Random } from '../../../platform/random.js';
import { createSharedCalls } from '../../../platform/sharedCalls.js';
import { createTransientMap } from '../../../platform/transientMap.js';
import { isStreamName } from '../encodeEvents.js';
import {
  EventStoreClosed,
  NO_STREAM,
  START,
  WrongExpectedRevision,
  type CopyTarget,
  type EventFilter,
  type EventStore,
  type LogSlice,
  type StreamSlice,
  type SubscribeOptions,
} from '../eventStore.js';
import { createStreamsInUse } from '../streamsInUse.js';
import { createCalls } from './calls.js';
import { connect } from './connection.js';
import { createCopyWriter } from './copyWriter.js';
import { createLogEnd } from './logEnd.js';
import { createLogReader } from './logReader.js';
import { createRecentEventIds } from './recentEventIds.js';
import type { StreamRequest } from './readRequests.js';
import { fromWire } from './records.js';
import { createStreamPages } from './streamPages.js';
import { createWire } from './wire.js';
import { createWriter } from './writer.js';

export interface EventStoreDbOptions {
  /**
   * `esdb://` or `kurrentdb://`, one node or several, with credentials and options as in
   * EventStoreDB's connection strings.
   */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  /** Receives what subscriptions meet; calls are for the caller to report. */
  readonly outage?: OutageLog;
}

/**
 * The event store on EventStoreDB 23.10 or later, one node or a cluster
 * (docs/adr/0008-eventstoredb-appends.md). It connects at its first call, and again whenever the
 * connection is lost. Every call goes to the leader, so that reads see all acknowledged appends.
 *
 * @throws Error when `url` is not a connection string, or another EventStoreDB is open in this
 * process
 */
export const createEventStoreDb = ({ url, clock, random, logger, outage }: EventStoreDbOptions): CopyTarget => {
  const connection = connect(url, { clock, logger });
  const ids = createIds(clock, random);
  const wire = createWire(connection, ids);
  const calls = createCalls(wire, { clock, random });
  const readPages = createStreamPages((request) => calls.read((signal) => wire.readStream(request, signal)), clock);
  const sharedReads = createSharedCalls();
  const recentIds = createRecentEventIds();
  const closing = new AbortController();
  const pending = createTransientMap<Promise<unknown>, Promise<unknown>>();
  let closed: Promise<void> | null = null;

  const ensureOpen = (): void => {
    if (closed !== null) throw new EventStoreClosed('the event store is closed');
  };

  /** Runs a call and registers it, because `close` waits for pending calls. */
  const use = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    ensureOpen();
    const done = call();
    pending.set(done, done);
    try {
      return await done;
    } finally {
      pending.delete(done);
    }
  };

  const readRecords = async (request: StreamRequest): Promise<StreamSlice> => {
    const { records, head } = await readPages(request);
    const events = records.map(fromWire).filter((event) => event !== null);
    recentIds.note(request.stream, request.backwards ? events.toReversed() : events);
    return { events, head: head ?? (await headOf(request.stream)) };
  };

  const lastRecord = { from: 'end', backwards: true, max: 1 } as const;

  /** The head of a stream, for a server that does not send it with a read. */
  const headOf = async (stream: string): Promise<bigint> => {
    const { records } = await calls.read((signal) => wire.readStream({ stream, ...lastRecord }, signal));
    if (records[0] !== undefined) return records[0].revision;
    const { $tb: first } = await metadataOf(stream);
    return typeof first === 'number' ? BigInt(first) - 1n : NO_STREAM;
  };

  const readStream: EventStore['readStream'] = async (stream, { direction = 'forwards', from, max = 1_000 } = {}) => {
    if (!isStreamName(stream)) return { events: [], head: NO_STREAM };
    const backwards = direction === 'backwards';
    if (max < 1) return { events: [], head: (await readRecords({ stream, ...lastRecord })).head };
    if (!backwards) return readRecords({ stream, from: from ?? 0n, backwards, max });
    if (from === undefined) return readRecords({ stream, from: 'end', backwards, max });
    // Clamped to the head, because the server counts back from `from` even if that lies beyond the
    // end.
    const { head } = await readRecords({ stream, ...lastRecord });
    return head === NO_STREAM ? { events: [], head } : readRecords({ stream, from: from < head ? from : head, backwards, max });
  };

  /** The stream's own metadata; `$tb`: the first revision that is not dropped. */
  const metadataOf = async (stream: string): Promise<Record<string, unknown>> => {
    const { records } = await calls.read((signal) => wire.readStream({ stream: `$$${stream}`, ...lastRecord }, signal));
    const [last] = records;
    return last === undefined ? {} : (JSON.parse(Buffer.from(last.data).toString('utf8')) as Record<string, unknown>);
  };

  /** The server keeps the revision of a stream that is truncated as a whole, and scavenges the rest. */
  const drop = async (stream: string, head: bigint): Promise<void> => {
    const { head: actual } = await readRecords({ stream, ...lastRecord });
    if (actual !== head || head === NO_STREAM) throw new WrongExpectedRevision(stream, head, actual);
    const metadata = await metadataOf(stream);
    if (metadata.$tb === Number(head + 1n)) return;
    const data = Buffer.from(JSON.stringify({ ...metadata, $tb: Number(head + 1n) }));
    const event = { id: ids.commandId(), type: '$metadata', data, metadata: new Uint8Array() };
    await calls.append({ stream: `$$${stream}`, events: [event], expected: 'any' });
  };

  /** By the last metadata of each stream: it stays in the log, also when the stream's events are gone. */
  const dropped = async (): Promise<ReadonlyMap<string, bigint>> => {
    const through = await lastPosition();
    const found = new Map<string, bigint>();
    for await (const message of wire.subscribe(START, { on: 'stream', regex: '^\\$\\$' }, closing.signal)) {
      if (message.kind === 'caught up' || (message.kind === 'passed' && message.position >= through)) break;
      if (message.kind !== 'event') continue;
      const { $tb } = JSON.parse(Buffer.from(message.record.data).toString('utf8')) as { readonly $tb?: number };
      if ($tb !== undefined) found.set(message.record.stream.slice('$$'.length), BigInt($tb) - 1n);
      if (message.record.position >= through) break;
    }
    return found;
  };

  const askLastPosition = (): Promise<bigint> => calls.read((signal) => wire.lastPosition(signal));
  const lastPosition = (): Promise<bigint> => sharedReads.run('end', askLastPosition);

  /** The server knows the end of the log only; the events before it are here. */
  const lastMatching = async (filter: EventFilter): Promise<bigint> => {
    const end = await lastPosition();
    const matching = (await logEnd.reach(end)) ? live.lastMatching(filter) : end;
    return matching < end ? matching : end;
  };

  const append = createWriter({ calls, recentIds, clock, readStream });
  const copy = createCopyWriter({ calls, readStream });
  const logReader = createLogReader({ wire, lastPosition, clock, random, logger, outage });

  const { live } = logReader;
  const logEnd = createLogEnd({ live, lastPosition: askLastPosition, clock, logger });
  const streams = createStreamsInUse({ live, readStream, reach: (position) => logEnd.reach(position) });
  live.listen({
    added: (events) => {
      for (const event of events) recentIds.noteNext(event);
    },
  });

  const subscription = (options: SubscribeOptions): AsyncGenerator<LogSlice, void> =>
    logReader.subscribe({ ...options, signal: AbortSignal.any([options.signal, closing.signal]) });

  const shutDown = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(pending.values());
    await logReader.close();
    wire.close();
    await connection.release();
  };

  return {
    append: (stream, events, expected) =>
      use(async () => {
        const result = await append(stream, events, expected);
        streams.appended(stream, result.position);
        return result;
      }),
    copy: (events) => use(() => copy(events)),
    dropped: () => use(dropped),
    drop: (stream, head) =>
      use(async () => {
        await drop(stream, head);
        streams.forget(stream);
      }),
    moment: () => streams.moment(),
    readStream: (stream, options) => use(() => streams.readStream(stream, options)),
    readAll: (options) => use(() => logReader.readAll(options)),
    lastPosition: (filter) => use(() => (filter === undefined ? lastPosition() : lastMatching(filter))),
    subscribe: (options) => {
      ensureOpen();
      return subscription(options);
    },
    close: () => (closed ??= shutDown()),
  };
};
