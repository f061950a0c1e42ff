import type { Clock } from '../../../platform/clock.js';
import { nextTurn, nextTurnAlone } from '../../../platform/eventLoop.js';
import type { Logger } from '../../../platform/logger.js';
import { encodeEvents, isStreamName } from '../encodeEvents.js';
import {
  EventStoreClosed,
  NO_STREAM,
  PAGE_BYTES,
  type CopyTarget,
  type LogSlice,
  type StoredEvent,
  type SubscribeOptions,
} from '../eventStore.js';
import { toPortFault, openDatabase, type Database } from './database.js';
import { createLiveLog } from '../liveLog.js';
import { createStreamsInUse } from '../streamsInUse.js';
import { createCommitNotifier } from './commitNotifier.js';
import { createGroupCommit } from './groupCommit.js';
import { createEventTypeIndex } from './eventTypeIndex.js';
import { createLogReader, toLive } from './logReader.js';
import { createLogWriter } from './logWriter.js';

export interface EmbeddedEventStoreOptions {
  /**
   * Path of the SQLite file, which is created when it is missing. Several processes may use it at
   * the same time.
   */
  readonly file: string;
  readonly clock: Clock;
  readonly logger?: Pick<Logger, 'warn'>;
  /** Whether no other process may use the file, until the store is closed. Default: others may. */
  readonly alone?: boolean;
}

/**
 * The event store in one SQLite file, with nothing to install
 * (docs/adr/0001-embedded-event-store.md).
 * @throws EventStoreUnavailable when the file cannot be opened; EventStoreInUse
 */
export const createEmbeddedEventStore = async (options: EmbeddedEventStoreOptions): Promise<CopyTarget> => {
  const database = await openDatabase(options.file, options.clock, options.alone);
  return withPortFaults(options.file, () => eventStoreOn(database, options));
};

/**
 * Positions that one read covers. SQLite reads synchronously, so nothing else in the process runs
 * meanwhile.
 */
const READ_WINDOW = 2_000;
/** After so many looks at the end of the log without news, no other process seems to write. */
const LOOKS_WITHOUT_NEWS = 50;
/** Events that one transaction deletes when a stream is dropped. */
const DROP_CHUNK = 200;

/** The event store on a connection from `openDatabase`, which `close` closes. */
export const eventStoreOn = (database: Database, { file, clock, logger }: EmbeddedEventStoreOptions): CopyTarget => {
  const typeIndex = createEventTypeIndex(database);
  const log = createLogReader(database, typeIndex);
  const live = createLiveLog({
    clock,
    // More than are committed under load while a read model lets events gather and writes: each would read them again.
    maxEvents: 1_000,
    maxBytes: 1_000_000,
    reportMs: 250,
    follow: () => {
      live.begin(BigInt(withPortFaults(file, () => log.head())));
      return commitNotifier.watch();
    },
  });

  /** What this process writes itself is no news. */
  let looksWithoutNews = 0;

  /** Reads the events that are not in memory yet, once for all. */
  const advance = (): number => {
    const [after, head] = [Number(live.head()), log.head()];
    looksWithoutNews = head > after ? 0 : looksWithoutNews + 1;
    const written = head - after > READ_WINDOW ? null : head > after ? log.readWritten(after, head) : [];
    if (written === null) {
      // They are read by the subscribers, in parts.
      live.begin(BigInt(head));
      return head;
    }
    writer.follow(written);
    live.add(written.map(toLive));
    return head;
  };

  /** @returns whether the events that were not in memory could be read */
  const readNew = (): boolean => {
    if (live.start() === null) return false;
    try {
      advance();
      return true;
    } catch (error) {
      const fault = toPortFault(error, file);
      logger?.warn({ err: fault }, 'the end of the event log could not be read; trying again');
      live.fail(fault as Error);
      return false;
    }
  };
  /** The look at the end of the log that is yet to be taken, for all reads that come in before it. */
  let nextLook: Promise<boolean> | null = null;
  const writer = createLogWriter(database, typeIndex, () => (live.start() === null ? log.head() : advance()));
  live.listen({ begun: writer.forget });
  const commitNotifier = createCommitNotifier({
    file,
    check: () => {
      groupCommit.lockReleased();
      readNew();
    },
    clock,
    logger,
  });
  const groupCommit = createGroupCommit({
    writer,
    clock,
    toFault: (error) => toPortFault(error, file),
    onCommit: (written) => {
      commitNotifier.notify();
      // The transaction began at the end of what is in memory: nobody else wrote in between.
      live.add(written.map(toLive));
    },
  });
  const closing = new AbortController();
  let closed: Promise<void> | null = null;

  const ensureOpen = (): void => {
    if (closed !== null) throw new EventStoreClosed('the event store is closed');
  };

  /** Runs `read` at once and turns what it throws into a rejection. */
  const use = <Result>(read: () => Result): Promise<Result> =>
    new Promise((resolve) => {
      ensureOpen();
      resolve(withPortFaults(file, read));
    });

  const streams = createStreamsInUse({
    live,
    reach: (position) => {
      // What this process has appended was added by its commit. Beside others that write, a look costs
      // less than the conflict that it spares.
      if (position !== null && looksWithoutNews >= LOOKS_WITHOUT_NEWS) return live.start() !== null;
      // Each look costs as much as the rest of a read from memory.
      return (nextLook ??= nextTurn().then(() => {
        nextLook = null;
        return readNew();
      }));
    },
    readStream: (stream, options = {}) =>
      use(() => (isStreamName(stream) ? log.readStream(stream, options) : { events: [], head: NO_STREAM })),
  });

  async function* history({ after, filter, maxBatch = 500, signal }: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    for (let position = after, end = live.start(); end !== null && position < end; end = live.start()) {
      // Reads are synchronous: without this turn, catching up with a long history would let
      // nothing else run.
      await nextTurnAlone();
      if (signal.aborted) return;
      const through = Number(end);
      const slice = withPortFaults(file, () => readWindow(Number(position), through, maxBatch, filter));
      ({ position } = slice);
      yield slice;
    }
  }

  async function* follow(options: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    readNew();
    yield* live.subscribe({ ...options, signal: AbortSignal.any([options.signal, closing.signal]) }, history);
  }

  const readWindow = (after: number, head: number, max: number, filter: SubscribeOptions['filter']): LogSlice =>
    log.read({ after, through: Math.min(after + READ_WINDOW, head) }, max, filter);

  /**
   * Moves everything into the one file, so that a copy of it is complete. SQLite does so when the
   * connection ends, but the driver keeps the connection until the prepared statements are garbage
   * collected.
   */
  const moveLogIntoFile = (): void => {
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      logger?.warn(
        { err: error, file },
        "the event store's write-ahead log could not be emptied; keep the -wal file, the next start reads it",
      );
    }
  };

  const shutDown = async (): Promise<void> => {
    await groupCommit.drained();
    closing.abort();
    live.close();
    moveLogIntoFile();
    database.close();
  };

  /** In one transaction, each at its revision and with its time. */
  const copy = (events: readonly StoredEvent[]): void => {
    const transaction = writer.begin();
    try {
      for (const event of events) {
        const { stream, revision, recordedAt } = event;
        transaction.append({ stream, events: encodeEvents(stream, [event]), expected: revision - 1n }, Date.parse(recordedAt));
      }
      transaction.commit();
    } catch (error) {
      transaction.rollback();
      throw error;
    }
    readNew();
    commitNotifier.notify();
  };

  return {
    copy: (events) =>
      use(() => {
        copy(events);
      }),

    dropped: () => use(() => log.dropped()),

    append: (stream, events, expected) =>
      groupCommit.write(() => {
        ensureOpen();
        const append = { stream, events: encodeEvents(stream, events), expected };
        return (transaction, now) => transaction.append(append, now);
      }),

    drop: async (stream, head) => {
      for (;;) {
        const deleted = await groupCommit.write(() => {
          ensureOpen();
          return (transaction) => transaction.drop(stream, head, DROP_CHUNK);
        });
        streams.forget(stream);
        if (deleted < DROP_CHUNK) return;
        // Others write in between.
        await nextTurnAlone();
      }
    },

    moment: () => streams.moment(),

    readStream: async (stream, options) => {
      ensureOpen();
      return streams.readStream(stream, options);
    },

    readAll: async ({ after, max = 1_000, filter }) => {
      const head = await use(() => log.head());
      const events: StoredEvent[] = [];
      let [position, bytes] = [after, 0];
      for (;;) {
        const slice = await use(() => readWindow(Number(position), head, max - events.length, filter));
        events.push(...slice.events);
        position = slice.position;
        bytes += slice.bytes;
        if (events.length === max || bytes >= PAGE_BYTES || position >= head) return { events, position, bytes };
        await nextTurn();
      }
    },

    lastPosition: (filter) => use(() => BigInt(log.lastPosition(filter))),

    subscribe: (options) => {
      ensureOpen();
      return follow(options);
    },

    close: () => (closed ??= shutDown()),
  };
};

/** Runs `use` and maps SQLite's errors to the port's. */
const withPortFaults = <Result>(file: string, use: () => Result): Result => {
  try {
    return use();
  } catch (error) {
    throw toPortFault(error, file);
  }
};
