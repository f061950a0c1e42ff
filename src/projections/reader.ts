import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { EventStore } from '../events/store/eventStore.js';
import type { StreamFolds } from '../events/streamFolds.js';
import type { StreamReader } from '../events/streamReader.js';
import type { Clock } from '../platform/clock.js';
import { nextTurn } from '../platform/eventLoop.js';
import type { PersonalData } from '../platform/personal.js';
import type { AnyProjection, ListProjection } from './projection.js';
import { countList, listIds, readList, type ListedDocument } from './runner/readList.js';
import type { ReadModelQuery, ReadModelStore, Selection } from './store/readModelStore.js';
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
  /** The ids of all documents that match, by id, the last first; as fresh as `list`, with its errors. */
  readonly listIds: (projection: AnyProjection, selection: Selection) => Promise<readonly string[]>;
  /** How many documents `list` would find on all pages; as fresh, with its errors. */
  readonly count: (projection: AnyProjection, query: Selection & Pick<ReadModelQuery, 'search'>) => Promise<number>;
  readonly personal: PersonalData;
  readonly blindIndex: (text: string) => string;
  /** Reads as this one until `signal` is aborted: lists then throw its reason, however long they are. */
  readonly until: (signal: AbortSignal) => Reader;
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
  const { streams, folds, readModels, personal } = parts;
  const read = createValidatedRead({ folds, readModels });
  const readerUntil = (signal?: AbortSignal): Reader => {
    const lists = { ...parts, ...(signal !== undefined && { signal }) };
    return {
      state: streams.state,
      history: streams.history,
      slice: streams.slice,
      read,
      list: (projection, query) => readList(projection, query, lists),
      listIds: (projection, selection) => listIds(projection, selection, lists),
      count: (projection, query) => countList(projection, query, lists),
      personal,
      blindIndex: (text) => personal.blindIndex(text),
      until: readerUntil,
      giveWay: async () => {
        await nextTurn();
        signal?.throwIfAborted();
      },
    };
  };
  return readerUntil();
};
