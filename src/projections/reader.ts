import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { EventStore } from '../events/store/eventStore.js';
import type { StreamFolds } from '../events/streamFolds.js';
import type { StreamReader } from '../events/streamReader.js';
import type { Clock } from '../platform/clock.js';
import { nextTurn } from '../platform/eventLoop.js';
import type { PersonalData } from '../platform/personal.js';
import type { AnyProjection, ListProjection } from './projection.js';
import { countList, listIds, readList, type ListedDocument } from './runner/readList.js';
import type { IdsQuery, ReadModelQuery, ReadModelStore, Selection } from './store/readModelStore.js';
import { createValidatedRead, type ValidatedRead } from './validatedRead.js';

/** What queries read with: single streams and documents as of now, and lists. */
export interface Reader extends StreamReader {
  readonly read: ValidatedRead;
  /**
   * A list that reflects everything that any process committed before the call. It waits for that
   * up to 2 s.
   * @throws ProjectionBehind when the projection does not get there in time
   * @throws EventStoreUnavailable, ReadModelStoreUnavailable
   */
  readonly list: <Document extends JsonObject, Event extends DomainEvent>(
    projection: ListProjection<Document, Event>,
    query: ReadModelQuery,
  ) => Promise<readonly ListedDocument<Document>[]>;
  /** The ids of all documents that match, or of a page, by id, the last first; as fresh as `list`, with its errors. */
  readonly listIds: (projection: AnyProjection, query: IdsQuery) => Promise<readonly string[]>;
  /** How many documents `list` would find on all pages; as fresh, with its errors. */
  readonly count: (projection: AnyProjection, query: Selection & Pick<ReadModelQuery, 'search'>) => Promise<number>;
  readonly personal: PersonalData;
  readonly blindIndex: (text: string) => string;
  /**
   * Reads as this one, but single streams and documents with everything that was committed before this
   * call, and perhaps not what others committed later: all reads of one request share one look at the
   * end of the log.
   */
  readonly sinceNow: () => Reader;
  /** Reads as this one until `signal` is aborted: lists then throw its reason, however long they are. */
  readonly until: (signal: AbortSignal) => Reader;
  /**
   * What `make` makes of all documents of the projection: cached for 30 s at most, and until an event
   * that it handles is committed by any process. Personal data may be in it, since an erasure is such
   * an event.
   * @param name of what is made, for all that ask
   */
  readonly cached: <Value>(
    projection: AnyProjection,
    name: string,
    make: () => Promise<readonly Value[]>,
  ) => Promise<readonly Value[]>;
  /** Lets other work run between two parts of long work. @throws the reason of `until` */
  readonly giveWay: () => Promise<void>;
}

export const createReader = (parts: {
  readonly streams: StreamReader;
  readonly folds: StreamFolds;
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  readonly personal: PersonalData;
}): Reader => {
  const { streams, folds, eventStore, readModels, personal } = parts;
  const read = createValidatedRead({ folds, readModels });
  const cached = createCached(parts);
  const readerWith = (signal?: AbortSignal, since?: number): Reader => {
    const lists = signal === undefined ? parts : { ...parts, signal };
    return {
      state: since === undefined ? streams.state : (fold, key) => folds.load(fold, fold.stream.name(key), { since }),
      history: streams.history,
      slice: streams.slice,
      read: since === undefined ? read : (projection, id, through) => read(projection, id, through, since),
      list: (projection, query) => readList(projection, query, lists),
      listIds: (projection, query) => listIds(projection, query, lists),
      count: (projection, query) => countList(projection, query, lists),
      personal,
      blindIndex: (text) => personal.blindIndex(text),
      sinceNow: () => readerWith(signal, eventStore.moment()),
      until: (other) => readerWith(other, since),
      cached,
      giveWay: async () => {
        await nextTurn();
        signal?.throwIfAborted();
      },
    };
  };
  return readerWith();
};

const cachedMs = 30_000;
/** More items are made anew each time, because they would fill the memory. */
const maxCached = 200_000;

const createCached = ({ eventStore, clock }: { readonly eventStore: EventStore; readonly clock: Clock }): Reader['cached'] => {
  const known = new Map<string, { readonly position: bigint; readonly until: number; readonly value: readonly unknown[] }>();
  return async <Value>({ handles }: AnyProjection, name: string, make: () => Promise<readonly Value[]>) => {
    // Asked first: what is made may reflect more, and is then made again.
    const position = await eventStore.lastPosition({ types: handles });
    const last = known.get(name);
    if (last?.position === position && clock.now() < last.until) return last.value as readonly Value[];
    known.delete(name);
    const value = await make();
    if (value.length <= maxCached) known.set(name, { position, until: clock.now() + cachedMs, value });
    return value;
  };
};
