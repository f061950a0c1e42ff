import {
  EventStoreUnavailable,
  OutcomeUnknown,
  type AppendResult,
  type EventStore,
  type StreamSlice,
} from '../../src/events/store/eventStore.js';

/** Does, or does not do, what it stands in for; what it returns or throws is the answer. */
export type AppendFault = (append: () => Promise<AppendResult>, stream: string) => Promise<AppendResult>;

export type ReadFault = (read: () => Promise<StreamSlice>, stream: string) => Promise<StreamSlice>;

export interface FaultyEventStore extends EventStore {
  /** What happens to the next appends, one entry each; after the last one all is sound again. */
  readonly appendFaults: AppendFault[];
  /** What happens to every read of a stream from now on; `null`: nothing. */
  readFault: ReadFault | null;
  /** Every append asked for. */
  readonly appends: { readonly stream: string; readonly ids: readonly string[]; readonly expected: unknown }[];
  /** Every read of a stream asked for, with what it returned. */
  readonly reads: { readonly stream: string; readonly from: bigint; readonly events: number }[];
}

/** A store in front of a sound one, which does wrong what it is told to and counts what it is asked. */
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

/** It is written, and the answer gets lost. */
export const lostAnswer: AppendFault = async (append) => {
  await append();
  throw new OutcomeUnknown('the answer got lost');
};

/** It gets lost on the way to the store. */
export const lostRequest: AppendFault = () => Promise.reject(new OutcomeUnknown('the request got lost'));

export const unavailable: AppendFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));

/** Somebody else comes first. */
export const after =
  (first: () => Promise<unknown>): AppendFault =>
  async (append) => {
    await first();
    return append();
  };
