import type { EventMetadata, JsonObject } from '../envelope.js';

/**
 * The event store port: append with an expected revision, read a stream, read the whole log and
 * subscribe to it. Its contract suite, `test/contracts/eventStore.contract.ts`, says what every
 * adapter promises.
 */
export interface EventStore {
  /**
   * Appends `events` to `stream`, all or none. When it resolves, they are durable and survive a
   * power cut.
   *
   * Repeating an append with the same event ids and the same expected revision returns the same
   * result and adds nothing, also after later appends. A repetition that overlaps only in part is a
   * `CorruptedRetry`.
   *
   * @throws WrongExpectedRevision, CorruptedRetry, AppendTooLarge, InvalidAppend: nothing was
   * written.
   * @throws EventStoreUnavailable: nothing was written. EventStoreFull, a subclass, when the disk
   * is full.
   * @throws OutcomeUnknown: the deadline passed. Repeat with the same ids, or read, to learn what
   * happened.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;

  /**
   * Drops all events of a stream whose last one has the revision `head`. They cannot be read from the
   * stream any more, which stays as long as it was: it goes on at the next revision, and is never new
   * again. `readAll` and subscriptions may give the dropped events for a while yet. Other events keep
   * their positions. Repeating it changes nothing, and completes what was interrupted; repeating an
   * append that was dropped adds nothing either.
   * @throws WrongExpectedRevision: nothing was dropped. EventStoreUnavailable, OutcomeUnknown: repeat it
   */
  drop(stream: string, head: bigint): Promise<void>;

  /** Now, for `since` of reads that follow. */
  moment(): number;

  /**
   * Reads up to `max` (default 1,000) events of one stream from `from` (inclusive; default the
   * first, or backwards the last). A page ends before that, with at least one event, once its events
   * take about `PAGE_BYTES`: `head` says whether others follow.
   */
  readStream(stream: string, options?: ReadStreamOptions): Promise<StreamSlice>;

  /**
   * Reads up to `max` (default 1,000) matching events of the whole log after `after` (exclusive),
   * in commit order. A page ends before that, with at least one event, once its events take about
   * `PAGE_BYTES`; one without events is the end.
   */
  readAll(options: ReadAllOptions): Promise<LogSlice>;

  /**
   * The position of the last event that matches `filter`, or a later one that the log has reached;
   * `START` when the log is empty. A reader that has reached it has seen every matching event that
   * was committed before this call.
   */
  lastPosition(filter?: EventFilter): Promise<bigint>;

  /**
   * Yields the events after `after`, then new ones as they are committed, without gaps or
   * duplicates. A batch holds at most `maxBatch` (default 500) events, and about `PAGE_BYTES` of
   * them. The next one is read only when the consumer asks for it, so a slow consumer costs no memory. A batch without events
   * reports that the position moved past events that do not match. The subscription ends when
   * `signal` is aborted or the store is closed. It throws when it cannot go on; resume from the
   * last position received.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<LogSlice>;

  /**
   * Waits for appends in flight, then releases all resources. Later calls throw EventStoreClosed.
   */
  close(): Promise<void>;
}

/** An event store that can take over the log of another one (`npm run move`). */
export interface CopyTarget extends EventStore {
  /**
   * Appends events of another log, in its order and as they are there: with their streams,
   * revisions, ids and times. Only positions are new. When it resolves, they are durable. It may be
   * interrupted and repeated, with any part of them: what is here already is passed over.
   *
   * @throws WrongExpectedRevision when a stream holds another event at that revision, or lacks those before it
   */
  copy(events: readonly StoredEvent[]): Promise<void>;

  /** The streams that were dropped (`drop`), each with the revision up to which it was. */
  dropped(): Promise<ReadonlyMap<string, bigint>>;
}

/**
 * The revision of a stream that does not exist; as an expected revision, that the stream does not
 * exist yet.
 */
export const NO_STREAM = -1n;

/** The revision of the first event of a stream. */
export const FIRST_REVISION = 0n;

/** The position before the first event. */
export const START = 0n;

/** Before every `moment`. */
export const EARLIEST = 0;

/**
 * The revision that the last event must have (`NO_STREAM`: no event yet), `exists` (at least one
 * event), or `any`.
 */
export type ExpectedRevision = bigint | 'any' | 'exists';

export interface NewEvent {
  /** A UUID in lower case, unique within the stream. */
  readonly id: string;
  readonly type: string;
  /** Version of the event type's schema, from 1. */
  readonly schemaVersion: number;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /**
   * When the store recorded it, ISO 8601 UTC. It never goes back within a stream, even when the
   * clock does.
   */
  readonly recordedAt: string;
}

export interface AppendResult {
  /** Revision of the last event appended. */
  readonly revision: bigint;
  /** Position of the last event appended. */
  readonly position: bigint;
}

export interface ReadStreamOptions {
  readonly from?: bigint;
  readonly direction?: 'forwards' | 'backwards';
  readonly max?: number;
  /**
   * Of `moment`: the read may lack what others have committed after it. Reads in a row that share it
   * share one look at the end of the log. `EARLIEST`: what this process knows will do, for a decision
   * whose append is its validation. A preference, forwards only. Default: the time of the call.
   */
  readonly since?: number | undefined;
}

export interface StreamSlice {
  readonly events: readonly StoredEvent[];
  /**
   * Revision of the stream's last event at the time of reading; `NO_STREAM` when the stream does
   * not exist. Events between those that were asked for and the first that is there were dropped.
   */
  readonly head: bigint;
}

export interface EventFilter {
  /** Prefixes of stream names, such as `delivery-`. Absent: every stream. */
  readonly streamPrefixes?: readonly string[];
  /** Event types. Absent: every type. If both are given, both must match. */
  readonly types?: readonly string[];
}

export interface ReadAllOptions {
  readonly after: bigint;
  readonly max?: number;
  readonly filter?: EventFilter;
}

export interface SubscribeOptions {
  readonly after: bigint;
  readonly filter?: EventFilter;
  readonly maxBatch?: number;
  readonly signal: AbortSignal;
}

export interface LogSlice {
  readonly events: readonly StoredEvent[];
  /** Every event up to this position was read; resume after it. */
  readonly position: bigint;
  /** About the bytes of the events, as text. */
  readonly bytes: number;
}

/**
 * Bytes of one append (data and metadata as JSON, UTF-8) that every adapter accepts; EventStoreDB's
 * default limit is 1 MiB.
 */
export const MAX_APPEND_BYTES = 1_000_000;

/**
 * About the bytes, as text, after which a page or a batch of events ends: 500 events of the greatest size take
 * gigabytes once they are parsed.
 */
export const PAGE_BYTES = 4_000_000;

/**
 * Length of a stream name, in UTF-16 units, that every adapter accepts. Names are not empty, do not
 * begin with `$` and hold no control characters or lone surrogates.
 */
export const MAX_STREAM_NAME = 1_000;

export abstract class EventStoreError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

export class WrongExpectedRevision extends EventStoreError {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** The stream's last revision; `NO_STREAM` when it does not exist. */
  readonly actual: bigint;

  constructor(stream: string, expected: ExpectedRevision, actual: bigint) {
    super(`stream ${stream} is at revision ${String(actual)}, expected ${String(expected)}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * The append is not a repetition: the stream holds only some of its event ids, or holds them in
 * another order.
 */
export class CorruptedRetry extends EventStoreError {
  constructor(stream: string) {
    super(`an append to stream ${stream} repeats some event ids of an earlier one and not others`);
  }
}

export class AppendTooLarge extends EventStoreError {
  constructor(stream: string, bytes: number) {
    super(`an append to stream ${stream} of ${String(bytes)} bytes is over the limit of ${String(MAX_APPEND_BYTES)}`);
  }
}

/**
 * An empty append, a stream name that is not allowed, an id that comes twice, or data that is not
 * JSON.
 */
export class InvalidAppend extends EventStoreError {}

export class OutcomeUnknown extends EventStoreError {}

export class EventStoreUnavailable extends EventStoreError {}

/** The disk is full. Reads go on, and writes resume once there is room. */
export class EventStoreFull extends EventStoreUnavailable {}

/** Other processes have the log open, and it was asked for alone. */
export class EventStoreInUse extends EventStoreUnavailable {}

export class EventStoreClosed extends EventStoreError {}
