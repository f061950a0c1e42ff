import { isoTime, type Clock } from '../../../platform/clock.js';
import { encodeEvents } from '../encodeEvents.js';
import {
  CorruptedRetry,
  NO_STREAM,
  WrongExpectedRevision,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type StreamSlice,
} from '../eventStore.js';
import type { Calls } from './calls.js';
import { KNOWN_EVENTS, type Known, type KnownEvents } from './knownEvents.js';
import { toWire } from './records.js';

/**
 * `EventStore.append` on EventStoreDB. Given a revision, the server itself compares ids with the events after it: all equal is a success, the
 * first one different is a wrong version, and so is a partial overlap. What it answers otherwise than the port is settled here by reading.
 */
export const createWriter = (parts: {
  readonly calls: Calls;
  readonly known: KnownEvents;
  readonly clock: Clock;
  readonly readStream: EventStore['readStream'];
}): EventStore['append'] => {
  const { calls, known, clock, readStream } = parts;

  /** What is known of the events up to `revision`, if that is the last one; what was not read yet is read. */
  const recall = async (stream: string, revision: bigint): Promise<Known | null> => {
    const remembered = known.upTo(stream, revision);
    if (remembered !== null || revision === NO_STREAM) return remembered;
    const from = revision - BigInt(KNOWN_EVENTS) + 1n;
    await readStream(stream, { from: from > 0n ? from : 0n, max: KNOWN_EVENTS });
    return known.upTo(stream, revision);
  };

  /** @throws CorruptedRetry when some of the events stand before the head, where the server does not look */
  const refuseRepeated = async (stream: string, events: readonly NewEvent[], { ids }: Known, expected: bigint): Promise<void> => {
    if (!events.some(({ id }) => ids.has(id))) return;
    const { head } = await last(stream);
    if (head === expected) throw new CorruptedRetry(stream);
  };

  const last = (stream: string): Promise<StreamSlice> => readStream(stream, { direction: 'backwards', max: 1 });

  /** Why the server refused. */
  const refusal = async (
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    actual: bigint,
  ): Promise<WrongExpectedRevision | CorruptedRetry> => {
    const wrong = new WrongExpectedRevision(stream, expected, actual);
    if (actual === NO_STREAM) return wrong;
    if (typeof expected !== 'bigint') return new CorruptedRetry(stream);
    if (expected >= actual) return wrong;
    const { events: after } = await readStream(stream, { from: expected + 1n, max: 1 });
    return after[0]?.id === events[0]?.id ? new CorruptedRetry(stream) : wrong;
  };

  const positionOf = async (stream: string, revision: bigint): Promise<bigint> => {
    const { events } = await readStream(stream, { from: revision, max: 1 });
    const [event] = events;
    if (event === undefined)
      throw new Error(`stream ${stream} has no event at the revision ${String(revision)} that was appended`);
    return event.position;
  };

  return async (stream, events, expected): Promise<AppendResult> => {
    const encoded = encodeEvents(stream, events);
    const explicit = typeof expected === 'bigint' ? expected : null;
    const before = explicit === null ? null : await recall(stream, explicit);
    if (before !== null && explicit !== null) await refuseRepeated(stream, events, before, explicit);

    const now = isoTime(clock.now());
    const recordedAt = before !== null && before.recordedAt > now ? before.recordedAt : now;
    const reply = await calls.append({ stream, events: encoded.map((event) => toWire(event, recordedAt)), expected });
    if (!reply.written) throw await refusal(stream, events, expected, reply.actual);

    const { revision } = reply;
    const first = revision + 1n - BigInt(events.length);
    // A repetition was recorded at another time, which may be later.
    if (first - 1n === explicit && (before !== null || explicit === NO_STREAM)) {
      known.note(
        stream,
        events.map(({ id }, index) => ({ id, revision: first + BigInt(index), recordedAt })),
      );
    }
    return { revision, position: reply.position ?? (await positionOf(stream, revision)) };
  };
};
