import type { DomainEvent, JsonObject } from '../../events/envelope.js';
import type { EventStore } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { createListeningClock } from '../../platform/listeningClock.js';
import type { AnyProjection, ListProjection } from '../projection.js';
import type { IdsQuery, ReadModel, ReadModelQuery, ReadModelStore, Selection, StoredDocument } from '../store/readModelStore.js';
import { builtBy, ProjectionBehind, readLive } from './versions.js';

export interface ListedDocument<Document> extends Omit<StoredDocument, 'body'> {
  readonly body: Document;
}

interface ListParts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  /** Ends the list when it is aborted. */
  readonly signal?: AbortSignal;
}

const timeoutMs = 2_000;

/**
 * Lists documents. The list reflects everything that any process committed before the call: it
 * waits, at most 2 s, until the projection has reached the end that the log had at the time of the
 * call.
 *
 * @throws the reason of `parts.signal`; ProjectionBehind when the projection does not get there in time
 * @throws EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const readList = async <Document extends JsonObject, Event extends DomainEvent>(
  projection: ListProjection<Document, Event>,
  query: ReadModelQuery,
  parts: ListParts,
): Promise<readonly ListedDocument<Document>[]> => {
  const documents = await readCaughtUp(projection, query, parts, (model) => parts.readModels.find(model, query, parts.signal));
  return documents as readonly (StoredDocument & { readonly body: Document })[];
};

/** The ids of all documents that match, or of a page, by id, the last first; as fresh. */
export const listIds = (projection: AnyProjection, query: IdsQuery, parts: ListParts): Promise<readonly string[]> =>
  readCaughtUp(projection, query, parts, (model) => parts.readModels.findIds(model, query, parts.signal));

/** Documents that one step of a counted search finds. */
const searchPageSize = 500;

/** How many documents `readList` would list without `limit`; as fresh. A search reads all of them. */
export const countList = (
  projection: AnyProjection,
  query: Selection & Pick<ReadModelQuery, 'search'>,
  parts: ListParts,
): Promise<number> =>
  readCaughtUp(projection, query, parts, async (model) => {
    const { readModels, signal } = parts;
    if (query.search === undefined) return readModels.count(model, query, signal);
    let count = 0;
    for (let after: string | undefined; ;) {
      const page = { ...query, order: 'descending', limit: searchPageSize, ...(after !== undefined && { after }) } as const;
      const found = await readModels.find(model, page, signal);
      count += found.length;
      if (found.length < searchPageSize) return count;
      after = found.at(-1)?.id;
    }
  });

const readCaughtUp = async <Result>(
  projection: AnyProjection,
  query: AskedIndexes,
  { eventStore, readModels, clock, signal }: ListParts,
  read: (model: ReadModel) => Promise<Result>,
): Promise<Result> => {
  const timeout = new AbortController();
  const waiting = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
  const cancel = createListeningClock(clock).schedule(timeoutMs, () => {
    timeout.abort();
  });
  try {
    const position = await eventStore.lastPosition({ types: projection.handles });
    return await readLive(projection, readModels, async (model) => {
      const isReached = model !== null && (await readModels.reached(model, position, waiting));
      const isThere = isReached && !lacksIndex(projection, model, query);
      signal?.throwIfAborted();
      if (!isThere) throw new ProjectionBehind(projection.name);
      return read(model);
    });
  } finally {
    cancel();
  }
};

type AskedIndexes = Selection & Pick<ReadModelQuery, 'sort'>;

/** Whether an older version, which answers until this build's one is built, lacks an index that is asked for. */
const lacksIndex = (
  { indexes }: AnyProjection,
  { version }: ReadModel,
  { where = {}, having = {}, beginning, below, sort }: AskedIndexes,
): boolean => {
  const fields = [...Object.keys(where), ...Object.keys(having), beginning?.field, below?.field, sort?.field];
  return indexes.some(({ field, since = 0 }) => since > builtBy(version) && fields.includes(field));
};
