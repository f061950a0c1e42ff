import type { JsonObject } from '../envelope.js';
import { encodeEvents } from './encodeEvents.js';
import {
  CorruptedRetry,
  NO_STREAM,
  WrongExpectedRevision,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type ReadStreamOptions,
  type StoredEvent,
  type StreamSlice,
} from './eventStore.js';

/** An event that would be appended. */
export interface PlannedEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
}

export interface PlanningEventStore {
  readonly store: EventStore;
  /** Everything that was appended to `store`, in order. */
  readonly planned: readonly PlannedEvent[];
  readonly hasPlanned: (stream: string) => boolean;
}

const defaultPage = 1_000;

/** What is planned comes after everything that is stored. */
const plannedPosition = 2n ** 63n - 1n;

/**
 * An event store over another one that keeps what is appended in memory: a stream read through it
 * holds the planned events after the stored ones. Nothing is written. A stream that something was
 * planned on no longer follows the store below. `readAll`, `lastPosition` and `subscribe` know
 * stored events only.
 */
export const createPlanningEventStore = (below: EventStore, now: () => string): PlanningEventStore => {
  const plans = new Map<string, { readonly base: bigint; readonly events: StoredEvent[] }>();
  const planned: PlannedEvent[] = [];

  const headBelow = async (stream: string): Promise<bigint> =>
    (await below.readStream(stream, { direction: 'backwards', max: 1 })).head;

  /** The result of an append whose ids are planned already; `null` when none of them is. */
  const resultOfRepetition = (
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    known: readonly StoredEvent[],
  ): AppendResult | null => {
    const places = events.map(({ id }) => known.findIndex((event) => event.id === id));
    const [first = -1] = places;
    if (places.every((place) => place === -1)) return null;
    const start = known[first]?.revision;
    const isWhole = places.every((place, index) => place === first + index);
    if (start === undefined || !isWhole || (typeof expected === 'bigint' && expected !== start - 1n)) {
      throw new CorruptedRetry(stream);
    }
    return { revision: start + BigInt(events.length - 1), position: plannedPosition };
  };

  const append = async (stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> => {
    // As strict as a store that writes.
    encodeEvents(stream, events);
    const base = plans.get(stream)?.base ?? (await headBelow(stream));
    const plan = plans.get(stream) ?? { base, events: [] };
    const repeated = resultOfRepetition(stream, events, expected, plan.events);
    if (repeated !== null) return repeated;
    const head = plan.base + BigInt(plan.events.length);
    const isExpected = typeof expected === 'bigint' ? expected === head : expected === 'any' || head !== NO_STREAM;
    if (!isExpected) throw new WrongExpectedRevision(stream, expected, head);
    for (const [index, event] of events.entries()) {
      const revision = head + BigInt(index + 1);
      plan.events.push({ ...event, stream, revision, position: plannedPosition, recordedAt: now() });
      planned.push({ stream, type: event.type, data: event.data });
    }
    plans.set(stream, plan);
    return { revision: head + BigInt(events.length), position: plannedPosition };
  };

  const readStream = async (stream: string, options: ReadStreamOptions = {}): Promise<StreamSlice> => {
    const plan = plans.get(stream);
    if (plan === undefined) return below.readStream(stream, options);
    const { from, direction = 'forwards', max = defaultPage } = options;
    const head = plan.base + BigInt(plan.events.length);
    if (direction === 'backwards') {
      const last = from === undefined || from > head ? head : from;
      const ours = plan.events.filter(({ revision }) => revision <= last).reverse();
      const taken = ours.slice(0, max);
      if (taken.length === max || plan.base === NO_STREAM) return { events: taken, head };
      const start = last < plan.base ? last : plan.base;
      const older = await below.readStream(stream, { from: start, direction, max: max - taken.length });
      return { events: [...taken, ...older.events], head };
    }
    const first = from ?? 0n;
    const stored = first > plan.base ? [] : (await below.readStream(stream, { from: first, max })).events;
    const before = stored.filter(({ revision }) => revision <= plan.base);
    // A short page of the store below is not its end.
    // Nothing is there up to the end of the store below: it was dropped.
    const reached = before.at(-1)?.revision ?? (stored.length === 0 ? plan.base : first - 1n);
    const ours = reached < plan.base ? [] : plan.events.filter(({ revision }) => revision >= first);
    return { events: [...before, ...ours].slice(0, max), head };
  };

  return {
    planned,
    hasPlanned: (stream) => plans.has(stream),
    store: {
      append,
      drop: () => Promise.reject(new Error('what is planned drops no stream')),
      moment: () => below.moment(),
      readStream,
      readAll: (options) => below.readAll(options),
      lastPosition: (filter) => below.lastPosition(filter),
      subscribe: (options) => below.subscribe(options),
      // The store below is not its own.
      close: () => Promise.resolve(),
    },
  };
};
