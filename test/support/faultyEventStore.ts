import {
  EventStoreUnavailable,
  OutcomeUnknown,
  type AppendResult,
  type EventStore,
  type StreamSlice,
} from '../../src/events/store/eventStore.js';

/** Replaces an append, which it may call or not. What it returns or throws is the answer. */
export type AppendFault = (append: () => Promise<AppendResult>, stream: string) => Promise<AppendResult>;

export type ReadFault = (read: () => Promise<StreamSlice>, stream: string) => Promise<StreamSlice>;

export interface FaultyEventStore extends EventStore {
  /** The faults of the next appends, one entry each; later appends work again. */
  readonly appendFaults: AppendFault[];
  /** The fault of every read of a stream from now on, or `null` for none. */
  readFault: ReadFault | null;
  /** Every requested append. */
  readonly appends: { readonly stream: string; readonly ids: readonly string[]; readonly expected: unknown }[];
  /** Every read of a stream, with the number of events it returned. */
  readonly reads: { readonly stream: string; readonly from: bigint; readonly events: number }[];
}

/** Wraps a store that works, injects the given faults and records the calls. */
export const createFaultyEventStore = (store: EventStore): FaultyEventStore => {
  const faulty: FaultyEventStore = {
    appendFaults: [],
    readFault: null,
    appends: [],
    reads: [],
    append: (stream, events, expected) => {
      faulty.appends.push({ stream, ids: events.map(({ id }) => id), expected });
      const append = (): Promise<AppendResult> => store.append(stream, events, expected);
      return faulty.appendFaults.shift()?.(append, stream) ?? append();
    },
    drop: (stream, head) => store.drop(stream, head),
    moment: () => store.moment(),
    readStream: async (stream, options) => {
      const read = (): Promise<StreamSlice> => store.readStream(stream, options);
      const slice = await (faulty.readFault?.(read, stream) ?? read());
      faulty.reads.push({ stream, from: options?.from ?? 0n, events: slice.events.length });
      return slice;
    },
    readAll: (options) => store.readAll(options),
    lastPosition: (filter) => store.lastPosition(filter),
    subscribe: (options) => store.subscribe(options),
    close: () => store.close(),
  };
  return faulty;
};

/** The append is written, and its answer gets lost. */
export const lostAnswer: AppendFault = async (append) => {
  await append();
  throw new OutcomeUnknown('the answer got lost');
};

/** The append gets lost on the way to the store. */
export const lostRequest: AppendFault = () => Promise.reject(new OutcomeUnknown('the request got lost'));

export const unavailable: AppendFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));

/** `first` runs before the append, as another writer would. */
export const after =
  (first: () => Promise<unknown>): AppendFault =>
  async (append) => {
    await first();
    return append();
  };
