import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { EventStore } from '../events/store/eventStore.js';
import type { StreamFolds } from '../events/streamFolds.js';
import type { StreamReader } from '../events/streamReader.js';
import type { Clock } from '../platform/clock.js';
import type { PersonalData } from '../platform/personal.js';
import type { AnyProjection, ListProjection } from './projection.js';
import { countList, readList, type ListedDocument } from './runner/readList.js';
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
  /** How many documents `list` would find on all pages; as fresh, with its errors. */
  readonly count: (projection: AnyProjection, query: Selection & Pick<ReadModelQuery, 'search'>) => Promise<number>;
  readonly personal: PersonalData;
  readonly blindIndex: (text: string) => string;
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
  return {
    state: streams.state,
    history: streams.history,
    slice: streams.slice,
    read: createValidatedRead({ folds, readModels }),
    list: (projection, query) => readList(projection, query, parts),
    count: (projection, query) => countList(projection, query, parts),
    personal,
    blindIndex: (text) => personal.blindIndex(text),
  };
};
