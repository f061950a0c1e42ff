import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import { encodeEvents, isStreamName } from '../encodeEvents.js';
import {
  EventStoreClosed,
  NO_STREAM,
  type EventStore,
  type LogSlice,
  type StoredEvent,
  type SubscribeOptions,
} from '../eventStore.js';
import { faultOf, openDatabase, type Database } from './database.js';
import { createFollowers } from './followers.js';
import { createGroupCommit } from './groupCommit.js';
import { createKinds } from './kinds.js';
import { createLogReader } from './logReader.js';
import { createLogWriter } from './logWriter.js';

export interface EmbeddedEventStoreOptions {
  /** Path of the SQLite file; made when it is not there. Several processes may use it at the same time. */
  readonly file: string;
  readonly clock: Clock;
  readonly logger?: Pick<Logger, 'warn'>;
}

/**
 * The event store in one SQLite file, with nothing to install (docs/adr/0001-embedded-event-store.md).
 * @throws EventStoreUnavailable when the file cannot be opened.
 */
export const createEmbeddedEventStore = async (options: EmbeddedEventStoreOptions): Promise<EventStore> => {
  const database = await openDatabase(options.file, options.clock);
  return inPortWords(() => eventStoreOn(database, options));
};

/** Positions looked at in one go: while SQLite reads, nothing else in the process runs. */
const WINDOW = 2_000;

/** The event store on a connection of `openDatabase`, which it closes in the end. */
export const eventStoreOn = (database: Database, { file, clock, logger }: EmbeddedEventStoreOptions): EventStore => {
  const kinds = createKinds(database);
  const log = createLogReader(database, kinds);
  const writer = createLogWriter(database, kinds, () => log.head());
  const followers = createFollowers({ file, head: () => log.head(), clock, logger });
  const groupCommit = createGroupCommit({
    writer,
    clock,
    onCommit: (head) => {
      followers.committed(head);
    },
  });
  const closing = new AbortController();
  let closed: Promise<void> | null = null;

  const ensureOpen = (): void => {
    if (closed !== null) throw new EventStoreClosed('the event store is closed');
  };

  /** Runs `read` at once; what it throws becomes a rejection. */
  const use = <Result>(read: () => Result): Promise<Result> =>
    new Promise((resolve) => {
      ensureOpen();
      resolve(inPortWords(read));
    });

  async function* follow({ after, filter, maxBatch = 500, signal }: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    const ended = AbortSignal.any([signal, closing.signal]);
    const stopWatching = followers.watch();
    let position = after;
    try {
      for (;;) {
        // Reading is synchronous: without this, following a long history would let nothing else run.
        await nextTurn();
        if (ended.aborted) return;
        const slice = inPortWords(() => readWindow(Number(position), log.head(), maxBatch, filter));
        if (slice.position > position) {
          position = slice.position;
          yield slice;
        } else {
          await followers.grown(ended);
        }
      }
    } finally {
      stopWatching();
    }
  }

  const readWindow = (after: number, head: number, max: number, filter: SubscribeOptions['filter']): LogSlice =>
    log.read({ after, through: Math.min(after + WINDOW, head) }, max, filter);

  /**
   * Leaves everything in the one file, for whoever copies it. SQLite would do so when the connection ends, but the driver
   * keeps the connection until the prepared statements are garbage.
   */
  const moveLogIntoFile = (): void => {
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      logger?.warn({ err: error, file }, 'the write-ahead log stays beside the event store; the next start reads it');
    }
  };

  const shutDown = async (): Promise<void> => {
    await groupCommit.drained();
    closing.abort();
    followers.close();
    moveLogIntoFile();
    database.close();
  };

  return {
    append: (stream, events, expected) =>
      groupCommit.append(() => {
        ensureOpen();
        return { stream, events: encodeEvents(stream, events), expected };
      }),

    readStream: (stream, options = {}) =>
      use(() => (isStreamName(stream) ? log.readStream(stream, options) : { events: [], head: NO_STREAM })),

    readAll: async ({ after, max = 1_000, filter }) => {
      const head = await use(() => log.head());
      const events: StoredEvent[] = [];
      let position = after;
      for (;;) {
        const slice = await use(() => readWindow(Number(position), head, max - events.length, filter));
        events.push(...slice.events);
        position = slice.position;
        if (events.length === max || position >= head) return { events, position };
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

/** What `use` gives; an error of SQLite's is thrown as one of the port's. */
const inPortWords = <Result>(use: () => Result): Result => {
  try {
    return use();
  } catch (error) {
    throw faultOf(error);
  }
};

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
