import { LRUCache } from 'lru-cache';
import { createCache } from '../platform/cache.js';
import { nextTurn } from '../platform/eventLoop.js';
import { createSharedCalls } from '../platform/sharedCalls.js';
import { approximateBytes } from '../platform/size.js';
import type { Codec } from './codec.js';
import type { DomainEvent, Recorded } from './envelope.js';
import { createLongFold, type Fold } from './fold.js';
import { NO_STREAM, type EventStore, type StreamSlice } from './store/eventStore.js';

/** A stream folded up to one of its revisions. */
export interface Folded<State> {
  readonly state: State;
  /** Revision of the last event that it reflects; `NO_STREAM` when there is none. */
  readonly revision: bigint;
  /**
   * `metadata.at` of that event; empty when there is none, or when it was not read but stands in a
   * seed.
   */
  readonly at: string;
}

/**
 * Streams folded into states, cached, so that a fold reads only new events. Every `load` asks the
 * store for the events after the cached revision: its result reflects everything that was committed
 * before the call, or before `since`, by any process. That makes it the validated read behind every
 * decision and every authorisation (docs/architecture.md).
 *
 * Loads of one stream at the same time share what they ask: a load may wait for one that is under
 * way, and its own question is shared only with those that came in before it was sent.
 */
export interface StreamFolds {
  /**
   * @throws EventStoreUnavailable and the other faults of `EventStore.readStream`; UnknownEvent;
   *   what `seed` throws
   */
  load<State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
    options?: LoadOptions<State>,
  ): Promise<Folded<State>>;
}

export interface LoadOptions<State> {
  /** Where to begin when nothing is cached, for long streams (a document of a read model). */
  readonly seed?: (() => Promise<Seed<State> | null>) | undefined;
  /** The last revision to fold: the result is what the stream was then, whatever was appended since. */
  readonly through?: bigint | undefined;
  /** As of `ReadStreamOptions`: the result may lack what others have committed after it. */
  readonly since?: number | undefined;
}

/** A stream as it was folded elsewhere. */
export interface Seed<State> extends Folded<State> {
  /** Of its last event: a seed from another history of the log is not used. Absent: it is of this one. */
  readonly position?: bigint;
}

/** A folded stream with the id of its last event, which only this history of the stream has. */
export interface Snapshot extends Folded<unknown> {
  readonly eventId: string;
}

/**
 * Where snapshots of long streams are kept. They save time and are never needed: one that cannot be
 * loaded is `null`, one that cannot be saved is left.
 */
export interface Snapshots {
  load(fold: Snapshotting, stream: string): Promise<Snapshot | null>;
  save(fold: Snapshotting, stream: string, snapshot: Snapshot): Promise<void>;
}

/** A fold that keeps snapshots. */
export interface Snapshotting {
  readonly name: string;
  readonly snapshotVersion: number;
}

/** What is cached of a stream. */
interface Kept<State> extends Folded<State> {
  /** Of the last event; unknown when that stands in a seed. */
  readonly eventId: string | undefined;
  /** About the bytes of the state when it was measured, and of the events since. */
  readonly measured: number;
  readonly grown: number;
  /** The revision of the last snapshot that was read or written. */
  readonly snapshotRevision: bigint;
}

/** Most streams are no longer, so that they are read at once, and nothing else is asked. */
const firstPageSize = 32;
/** Few enough to be read and folded in about 5 ms. */
const pageSize = 250;

/** Events between snapshots of a stream. */
const snapshotInterval = 1_000n;

/** Bytes of a cached stream beside its state, by estimate. */
const cachedOverhead = 400;

const defaultMaxBytes = 32 * 1024 * 1024;
/** Who asks for names at random must not drive out what others use. */
const maxAbsent = 1_000;

const noSnapshots: Snapshots = { load: () => Promise.resolve(null), save: () => Promise.resolve() };

export const createStreamFolds = (
  eventStore: EventStore,
  codec: Codec,
  { snapshots = noSnapshots, maxBytes = defaultMaxBytes }: { snapshots?: Snapshots; maxBytes?: number } = {},
): StreamFolds => {
  // Only what was read from the log is cached: after a repeated append, the log may differ from
  // what the append tried to write.
  const present = new LRUCache<string, Kept<unknown>>({ maxSize: maxBytes });
  const absent = createCache<Kept<unknown>>(maxAbsent);
  const sharedReads = createSharedCalls();

  /** The key contains the fold's name, so the state is of this fold. */
  const cached = <State>(key: string): Kept<State> | undefined =>
    (present.get(key) ?? absent.get(key)) as Kept<State> | undefined;

  const cache = (key: string, kept: Kept<unknown>): void => {
    // Loads may overlap: an older result must not replace a newer one.
    const other = cached(key);
    if (other !== undefined && other.revision >= kept.revision) return;
    if (kept.revision === NO_STREAM) {
      absent.set(key, kept);
      return;
    }
    absent.delete(key);
    present.set(key, kept, { size: cachedOverhead + 2 * key.length + Math.ceil(kept.measured + kept.grown) });
  };

  /** What the seed gives, if that is the stream's own history. */
  const seedOf = async <State>(seed: LoadOptions<State>['seed'], stream: string): Promise<Kept<State> | null> => {
    const found = (await seed?.()) ?? null;
    if (found === null) return null;
    if (found.position === undefined) return keptOf(found);
    // A log that was restored from a backup has another event there, or none.
    const [event] = (await eventStore.readStream(stream, { from: found.revision, max: 1 })).events;
    return event?.position === found.position ? keptOf(found, event.id) : null;
  };

  /** The snapshot of the stream, if that is the stream's own history. */
  const snapshotOf = async <State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
  ): Promise<Kept<State> | null> => {
    if (!keepsSnapshots(fold)) return null;
    const found = await snapshots.load(fold, stream);
    if (found === null) return null;
    // A log that was restored from a backup, and another log, have other events there.
    const [event] = (await eventStore.readStream(stream, { from: found.revision, max: 1 })).events;
    if (event?.id !== found.eventId) return null;
    // What was saved has this fold's name and version, so the state is of this fold.
    return keptOf(found as Snapshot & Folded<State>, found.eventId, found.revision);
  };

  const save = async <State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
    kept: Kept<State>,
  ): Promise<Kept<State>> => {
    const { state, revision, at, eventId, snapshotRevision } = kept;
    if (!keepsSnapshots(fold) || eventId === undefined || revision - snapshotRevision < snapshotInterval) return kept;
    await snapshots.save(fold, stream, { state, revision, at, eventId });
    return { ...kept, snapshotRevision: revision };
  };

  const read = async <State, Event extends DomainEvent>(
    key: string,
    fold: Fold<State, Event>,
    stream: string,
    options: LoadOptions<State>,
  ): Promise<Folded<State>> => {
    const { through, since } = options;
    const before = cached<State>(key);
    if (before === undefined || through !== undefined) return readOn(key, fold, stream, options, before);
    // Most streams have not changed, which takes little when nothing is made for it.
    const next = await eventStore.readStream(stream, { from: before.revision + 1n, max: pageSize, since });
    // Another load may have folded what is new meanwhile.
    const known = cached<State>(key) ?? before;
    if (next.head !== known.revision) return readOn(key, fold, stream, options, before, next);
    const { state, revision, at } = known;
    return { state, revision, at };
  };

  /** @param next what follows `known` */
  const readOn = async <State, Event extends DomainEvent>(
    key: string,
    fold: Fold<State, Event>,
    stream: string,
    { seed, through, since }: LoadOptions<State>,
    known: Kept<State> | undefined,
    next?: StreamSlice,
  ): Promise<Folded<State>> => {
    const isTooNew = ({ revision }: Folded<unknown>): boolean => through !== undefined && revision > through;
    const nothing: Kept<State> = keptOf({ state: fold.initialState, revision: NO_STREAM, at: '' });
    let kept = known === undefined || isTooNew(known) ? nothing : known;
    let isFirst = kept === nothing;
    const longFold = createLongFold();

    const folded = (events: readonly Recorded<Event>[]): Kept<State> => {
      const last = events.at(-1);
      if (last === undefined) return kept;
      const state = longFold.page(() => events.reduce((before, event) => fold.evolve(before, event), kept.state));
      const grown = events.reduce((bytes, { data }) => bytes + approximateBytes(data), kept.grown);
      return { ...kept, state, grown, eventId: last.id, revision: last.revision, at: last.metadata.at };
    };

    for (let slice = next; ; slice = undefined) {
      slice ??= await eventStore.readStream(stream, {
        from: kept.revision + 1n,
        max: isFirst ? firstPageSize : pageSize,
        since,
      });
      const { events, head } = slice;
      const end = through === undefined || through > head ? head : through;
      const beforeFirst = (events[0]?.revision ?? head + 1n) - 1n;
      if (beforeFirst > kept.revision && fold.droppedState !== undefined) {
        kept = keptOf({ state: fold.droppedState, revision: beforeFirst < end ? beforeFirst : end, at: '' });
      }
      const wanted = events.filter(({ revision }) => revision <= end);
      kept = folded(wanted.map((stored) => codec.decode(stored) as Recorded<Event>));
      if (kept.revision === end) break;
      if (kept.revision > head) {
        // The log was restored from a backup: the events that were folded beyond its head no longer
        // exist.
        present.delete(key);
        kept = nothing;
      } else if (events.length === 0) {
        throw new Error(
          `stream ${stream} reaches to revision ${String(head)}, but cannot be read after ${String(kept.revision)}`,
        );
      }
      if (isFirst) {
        isFirst = false;
        const found = (await seedOf(seed, stream)) ?? (await snapshotOf(fold, stream));
        if (found !== null && !isTooNew(found) && found.revision > kept.revision) kept = found;
      }
      // A long stream must not keep others waiting.
      await nextTurn();
    }
    if (kept.grown > kept.measured) kept = { ...kept, measured: approximateBytes(kept.state), grown: 0 };
    if (through === undefined) kept = await save(fold, stream, kept);
    cache(key, kept);
    const { state, revision, at } = kept;
    return { state, revision, at };
  };

  return {
    load: (fold, stream, options = {}) => {
      const { seed, through, since } = options;
      const key = `${fold.name}/${stream}`;
      const isCached = present.has(key) || absent.has(key);
      // It asks nothing that others could share.
      if (since !== undefined && isCached) return read(key, fold, stream, options);
      // A caller that asks for the stream as of a revision must not get it as of another.
      const question = through === undefined ? key : `${String(through)}/${key}`;
      // Of several that would read the whole stream, the others wait for the first, and read only
      // what is new.
      return sharedReads.run(question, () => read(key, fold, stream, { seed, through }), { afterOther: !isCached });
    },
  };
};

/** Not measured yet. All have the same fields, so that copies of them share one hidden class. */
const keptOf = <State>({ state, revision, at }: Folded<State>, eventId?: string, snapshotRevision = NO_STREAM): Kept<State> => ({
  state,
  revision,
  at,
  eventId,
  measured: 0,
  grown: 0,
  snapshotRevision,
});

const keepsSnapshots = (fold: { name: string; snapshotVersion?: number }): fold is Snapshotting =>
  fold.snapshotVersion !== undefined;
