import type { Clock } from '../../../platform/clock.js';
import { createListeningClock } from '../../../platform/listeningClock.js';
import { createEventMatcher } from '../eventMatcher.js';
import { PAGE_BYTES, type EventFilter, type LogSlice, type StoredEvent } from '../eventStore.js';
import { serverFilter } from './filters.js';
import type { ReadAnswer } from './readAnswer.js';
import { bytesOf, fromWire } from './records.js';
import type { Wire } from './wire.js';

export interface CatchUpOptions {
  readonly after: bigint;
  /** The position to catch up to, which the log has reached already. */
  readonly through: bigint;
  readonly filter: EventFilter | undefined;
  readonly maxBatch: number;
  /** How long the server may send nothing. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Yields the matching events after `after` in batches, until everything up to `through` was read.
 * The server filters. A batch without events reports the position reached when nothing matched for
 * a while, so that a resumed read need not start over.
 *
 * It throws what the call throws, after it has yielded everything received before.
 */
export async function* catchUp(wire: Wire, clock: Clock, options: CatchUpOptions): AsyncGenerator<LogSlice, void> {
  const { after, through, filter, maxBatch, silenceMs, signal } = options;
  if (after >= through) return;
  const { matches } = createEventMatcher(filter);
  let events: StoredEvent[] = [];
  let bytes = 0;
  /** The position up to which batches were yielded. */
  let yielded = after;
  /** The position up to which the log was read. */
  let position = after;

  const batch = (reached: bigint): LogSlice => {
    const slice = { events, position: reached, bytes };
    events = [];
    bytes = 0;
    yielded = reached;
    return slice;
  };

  const messages = withSilenceTimeout(clock, silenceMs, signal, (callSignal) =>
    wire.subscribe(after, serverFilter(filter), callSignal),
  );
  let fault: Error | null = null;
  try {
    for await (const message of messages) {
      if (message.kind === 'caught up') position = through;
      if (message.kind === 'passed' && message.position > position) position = message.position;
      if (message.kind === 'event') {
        const { record } = message;
        // A node that has not indexed `after` yet starts with the event at it.
        if (record.position <= after || record.position < position) continue;
        // Events that share a position stay in one batch, because the next read starts after that
        // position.
        if ((events.length >= maxBatch || bytes >= PAGE_BYTES) && record.position > position) yield batch(position);
        position = record.position;
        if (position > through) break;
        const event = matches(record) ? fromWire(record) : null;
        if (event === null) continue;
        events.push(event);
        bytes += bytesOf(record);
      } else if (position > yielded && message.kind !== 'other') {
        if (position >= through) break;
        yield batch(position);
      }
    }
  } catch (error) {
    fault = error instanceof Error ? error : new Error('the call failed', { cause: error });
  }
  const reached = position > through ? through : position;
  if (reached > yielded) yield batch(reached);
  if (fault !== null) throw fault;
}

/** The server sent nothing for too long: the connection may be dead without an error. */
export class SilenceTimeout extends Error {}

/** A silence is noticed after so many parts of it, in each of which nothing came. */
const SILENT_PARTS = 8;

/**
 * Calls `onSilent` when nothing is heard for `silenceMs` (after something was: for up to an eighth longer) while
 * something is waited for. One timer serves all messages, because they may be many.
 */
const watchSilence = (
  clock: Clock,
  silenceMs: number,
  onSilent: (fault: SilenceTimeout) => void,
  isWaiting: () => boolean = () => true,
): { readonly heard: () => void; readonly stop: () => void } => {
  const listeningClock = createListeningClock(clock);
  let silentParts = 0;
  let cancel = (): void => undefined;
  const watchPart = (): void => {
    cancel = listeningClock.schedule(silenceMs / SILENT_PARTS, () => {
      silentParts = isWaiting() ? silentParts + 1 : 0;
      if (silentParts < SILENT_PARTS) watchPart();
      else onSilent(new SilenceTimeout(`the event store sent nothing for ${String(silenceMs)} ms`));
    });
  };
  watchPart();
  return {
    // The part in which it is heard does not count.
    heard: () => (silentParts = -1),
    stop: () => {
      cancel();
    },
  };
};

/**
 * Follows by `call`, which calls `heard` for each message, and cancels it when the server sends nothing for `silenceMs`.
 * @throws SilenceTimeout
 */
export const untilSilent = async (
  clock: Clock,
  silenceMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal, heard: () => void) => Promise<never>,
): Promise<never> => {
  const silent = new AbortController();
  let giveUp: (fault: SilenceTimeout) => void = () => undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  const watch = watchSilence(clock, silenceMs, (fault) => {
    giveUp(fault);
  });
  try {
    return await Promise.race([call(AbortSignal.any([signal, silent.signal]), watch.heard), timeout]);
  } finally {
    watch.stop();
    silent.abort();
  }
};

/**
 * The messages of a call. When the server sends nothing for `silenceMs` while the consumer waits
 * (after a message: for up to an eighth longer), the call is cancelled. One timer serves all
 * messages, because a catch-up waits for each of them.
 * @throws SilenceTimeout
 */
async function* withSilenceTimeout(
  clock: Clock,
  silenceMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => AsyncIterable<ReadAnswer>,
): AsyncGenerator<ReadAnswer, void> {
  const silent = new AbortController();
  const messages = call(AbortSignal.any([signal, silent.signal]))[Symbol.asyncIterator]();
  /** Ends the wait for the next message; `null` while none is waited for. */
  let giveUp: ((fault: SilenceTimeout) => void) | null = null;
  const next = (): Promise<IteratorResult<ReadAnswer>> =>
    new Promise((resolve, reject) => {
      giveUp = reject;
      messages.next().then(resolve, reject);
    });
  const onSilent = (fault: SilenceTimeout): void => {
    giveUp?.(fault);
    silent.abort();
  };
  const watch = watchSilence(clock, silenceMs, onSilent, () => giveUp !== null);

  try {
    let wait = next();
    for (;;) {
      const result = await wait;
      giveUp = null;
      if (result.done === true) return;
      yield result.value;
      watch.heard();
      wait = next();
    }
  } finally {
    watch.stop();
    // Not awaited, because a call that hangs would never return.
    silent.abort();
    void messages.return?.().catch(() => undefined);
  }
}
