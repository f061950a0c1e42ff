import type { EventMetadata, JsonObject } from '../envelope.js';

/**
 * The event store port: append with an expected revision, read a stream, read and follow the whole log.
 * What every adapter must hold is written down as its contract suite, `test/contracts/eventStore.contract.ts`.
 */
export interface EventStore {
  /**
   * Appends `events` to `stream`, all or none, durably: when it resolves, they survive a power cut.
   *
   * Repeating an append with the same event ids and the same expectation gives the same result and adds nothing, also after
   * later appends. A repetition that overlaps only in part is a `CorruptedRetry`.
   *
   * @throws WrongExpectedRevision, CorruptedRetry, AppendTooLarge, InvalidAppend: nothing was written.
   * @throws EventStoreUnavailable: nothing was written; EventStoreFull (a kind of it) when there is no room.
   * @throws OutcomeUnknown: the deadline passed; repeat with the same ids, or read, to learn what happened.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;

  /** Reads up to `max` (default 1,000) events of one stream, forwards from `from` (inclusive, default the first) or backwards (default the last). */
  readStream(stream: string, options?: ReadStreamOptions): Promise<StreamSlice>;

  /** Reads up to `max` (default 1,000) matching events of the whole log, in commit order, after `after` (exclusive; `START` reads from the beginning). */
  readAll(options: ReadAllOptions): Promise<LogSlice>;

  /**
   * The position of the last event that matches `filter`, or a later one that the log has reached; `START` when the log is empty.
   * What a reader has to wait for so as to have seen everything that was committed before this call.
   */
  lastPosition(filter?: EventFilter): Promise<bigint>;

  /**
   * History after `after`, then everything as it is committed, without a gap or a duplicate. Batches hold at most `maxBatch`
   * (default 500) events; the next one is read only when the consumer asks for it, so a slow consumer costs no memory. A batch
   * without events reports that the position moved on past events that do not match. It ends when `signal` is
   * aborted or the store is closed, and throws when the log cannot be followed any more; resume from the last position received.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<LogSlice>;

  /** Waits for appends in flight, then releases everything. Later calls throw EventStoreClosed. */
  close(): Promise<void>;
}

/** The expectation that the stream does not exist yet, and the revision of a stream that does not. */
export const NO_STREAM = -1n;

/** The position before the first event. */
export const START = 0n;

/** A revision that the last event must have (`NO_STREAM`: no event yet), `exists` (at least one), or `any`. */
export type ExpectedRevision = bigint | 'any' | 'exists';

export interface NewEvent {
  /** A UUID in lower case, unique within the stream. */
  readonly id: string;
  readonly type: string;
  /** Version of the type's schema, from 1. */
  readonly schemaVersion: number;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** When the store recorded it, ISO 8601 UTC; never steps back within a stream, even when the clock does. */
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
}

export interface StreamSlice {
  readonly events: readonly StoredEvent[];
  /** Revision of the stream's last event at the time of reading; `NO_STREAM` when the stream does not exist. */
  readonly head: bigint;
}

export interface EventFilter {
  /** Beginnings of stream names, as in `delivery-`. Absent: every stream. */
  readonly streamPrefixes?: readonly string[];
  /** Event types. Absent: every type. Both given: both must match. */
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
  /** Everything up to here was looked at; resume after it. */
  readonly position: bigint;
}

/** Bytes of one append (data and metadata as JSON, UTF-8) that every adapter takes; EventStoreDB's default limit is 1 MiB. */
export const MAX_APPEND_BYTES = 1_000_000;

/** Characters of a stream name that every adapter takes. Names do not begin with `$`, are not empty and hold no control characters or lone surrogates. */
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

/** Some of the ids are in the stream and some are not, or they stand in another order: not a repetition of one append. */
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

/** An empty append, a stream name that is not allowed, the same id twice, or data that is not JSON. */
export class InvalidAppend extends EventStoreError {}

export class OutcomeUnknown extends EventStoreError {}

export class EventStoreUnavailable extends EventStoreError {}

/** No room on the disk: reads go on, writes resume once there is room. */
export class EventStoreFull extends EventStoreUnavailable {}

export class EventStoreClosed extends EventStoreError {}
