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
import { REPETITION_WINDOW, type RecentIds, type RecentEventIds } from './recentEventIds.js';
import { toWire } from './records.js';

/**
 * `EventStore.append` on EventStoreDB. Given an expected revision, the server compares the ids with
 * those of the events after it: if all are equal, it answers success; otherwise, also after a
 * partial overlap, a wrong version. Where the port promises another answer, a read decides.
 */
export const createWriter = (parts: {
  readonly calls: Calls;
  readonly recentIds: RecentEventIds;
  readonly clock: Clock;
  readonly readStream: EventStore['readStream'];
}): EventStore['append'] => {
  const { calls, recentIds, clock, readStream } = parts;

  /**
   * The recent ids up to `revision`, read if they are not cached; `null` when `revision` is not the
   * stream's last.
   */
  const loadRecentIds = async (stream: string, revision: bigint): Promise<RecentIds | null> => {
    const cached = recentIds.upTo(stream, revision);
    if (cached !== null || revision === NO_STREAM) return cached;
    const first = revision - BigInt(REPETITION_WINDOW) + 1n;
    // A page of large events is shorter. What is read is noted.
    for (let from = first > 0n ? first : 0n; from <= revision;) {
      const last = (await readStream(stream, { from, max: REPETITION_WINDOW })).events.at(-1);
      if (last === undefined) break;
      from = last.revision + 1n;
    }
    return recentIds.upTo(stream, revision);
  };

  /**
   * @throws CorruptedRetry when the stream holds some of the events before its head, where the
   * server does not compare ids
   */
  const assertNotRepeated = async (
    stream: string,
    events: readonly NewEvent[],
    { ids }: RecentIds,
    expected: bigint,
  ): Promise<void> => {
    if (!events.some(({ id }) => ids.has(id))) return;
    const { head } = await last(stream);
    if (head === expected) throw new CorruptedRetry(stream);
  };

  const last = (stream: string): Promise<StreamSlice> => readStream(stream, { direction: 'backwards', max: 1 });

  /** The port's error for an append that the server refused. */
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
    const expectedRevision = typeof expected === 'bigint' ? expected : null;
    const recent = expectedRevision === null ? null : await loadRecentIds(stream, expectedRevision);
    if (recent !== null && expectedRevision !== null) await assertNotRepeated(stream, events, recent, expectedRevision);

    const now = isoTime(clock.now());
    const recordedAt = recent !== null && recent.recordedAt > now ? recent.recordedAt : now;
    const reply = await calls.append({ stream, events: encoded.map((event) => toWire(event, recordedAt)), expected });
    if (!reply.written) throw await refusal(stream, events, expected, reply.actual);

    const { revision } = reply;
    const first = revision + 1n - BigInt(events.length);
    // A repetition was recorded at another time, so one that is recognised is not cached.
    if (first - 1n === expectedRevision && (recent !== null || expectedRevision === NO_STREAM)) {
      recentIds.note(
        stream,
        events.map(({ id }, index) => ({ id, revision: first + BigInt(index), recordedAt })),
      );
    }
    return { revision, position: reply.position ?? (await positionOf(stream, revision)) };
  };
};
