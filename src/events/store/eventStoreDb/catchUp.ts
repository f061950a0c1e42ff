import type { Clock } from '../../../platform/clock.js';
import type { EventFilter, LogSlice, StoredEvent } from '../eventStore.js';
import { matches, serverFilter } from './filters.js';
import { fromWire } from './records.js';
import type { LogMessage, Wire } from './wire.js';

export interface CatchUpOptions {
  readonly after: bigint;
  /** A position that the log has reached already. */
  readonly through: bigint;
  readonly filter: EventFilter | undefined;
  readonly maxBatch: number;
  /** How long the server may say nothing. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * The matching events after `after`, in batches, until everything up to `through` was looked at; the server filters. A batch without events
 * tells that nothing matched for a while, so that the way through a log of other things need not be gone twice.
 *
 * It throws what the call throws; everything received before is given out first.
 */
export async function* catchUp(wire: Wire, clock: Clock, options: CatchUpOptions): AsyncGenerator<LogSlice, void> {
  const { after, through, filter, maxBatch, silenceMs, signal } = options;
  if (after >= through) return;
  let events: StoredEvent[] = [];
  /** Of what was given out, and of what was looked at. */
  let given = after;
  let position = after;

  const batch = (reached: bigint): LogSlice => {
    const slice = { events, position: reached };
    events = [];
    given = reached;
    return slice;
  };

  const messages = heard(clock, silenceMs, signal, (whileHeard) => wire.follow(after, serverFilter(filter), whileHeard));
  let fault: Error | null = null;
  try {
    for await (const message of messages) {
      if (message.kind === 'caught up') position = through;
      if (message.kind === 'passed' && message.position > position) position = message.position;
      if (message.kind === 'event') {
        const { record } = message;
        // A node that has not indexed `after` yet begins with it.
        if (record.position <= after || record.position < position) continue;
        // Events that share a position must not be torn apart: what follows the batch is asked for after that position.
        if (events.length >= maxBatch && record.position > position) yield batch(position);
        position = record.position;
        if (position > through) break;
        const event = matches(record, filter) ? fromWire(record) : null;
        if (event !== null) events.push(event);
      } else if (position > given && message.kind !== 'other') {
        if (position >= through) break;
        yield batch(position);
      }
    }
  } catch (error) {
    fault = error instanceof Error ? error : new Error('the call failed', { cause: error });
  }
  const reached = position > through ? through : position;
  if (reached > given) yield batch(reached);
  if (fault !== null) throw fault;
}

/** No event and no sign of life for too long: a connection may be dead without an error. */
export class Silence extends Error {}

/** The messages of a call, until nothing is heard for `silenceMs` while somebody waits; then it is cancelled and throws `Silence`. */
export async function* heard(
  clock: Clock,
  silenceMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => AsyncIterable<LogMessage>,
): AsyncGenerator<LogMessage, void> {
  const silent = new AbortController();
  const messages = call(AbortSignal.any([signal, silent.signal]))[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextWithin(clock, silenceMs, messages, silent);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Also what hangs is let go: nobody waits for it.
    silent.abort();
    void messages.return?.().catch(() => undefined);
  }
}

const nextWithin = (
  clock: Clock,
  silenceMs: number,
  messages: AsyncIterator<LogMessage>,
  silent: AbortController,
): Promise<IteratorResult<LogMessage>> =>
  new Promise((resolve, reject) => {
    const cancel = clock.schedule(silenceMs, () => {
      reject(new Silence(`nothing was heard of the event store for ${String(silenceMs)} ms`));
      silent.abort();
    });
    messages.next().then(resolve, reject).finally(cancel);
  });
