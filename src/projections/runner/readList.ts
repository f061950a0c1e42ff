import type { DomainEvent, JsonObject } from '../../events/envelope.js';
import type { EventStore } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { createListeningClock } from '../../platform/listeningClock.js';
import type { Projection } from '../projection.js';
import type { ReadModelQuery, ReadModelStore, StoredDocument } from '../store/readModelStore.js';
import { ProjectionBehind, readLive } from './versions.js';

export interface ListedDocument<Document> extends Omit<StoredDocument, 'body'> {
  readonly body: Document;
}

const timeoutMs = 2_000;

/**
 * Lists documents. The list reflects everything that any process committed before the call: it
 * waits, at most 2 s, until the projection has reached the end that the log had at the time of the
 * call.
 *
 * @throws ProjectionBehind when the projection does not get there in time
 * @throws EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const readList = async <Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  query: ReadModelQuery,
  parts: { eventStore: EventStore; readModels: ReadModelStore; clock: Clock },
): Promise<readonly ListedDocument<Document>[]> => {
  const { eventStore, readModels, clock } = parts;
  const timeout = new AbortController();
  const cancel = createListeningClock(clock).schedule(timeoutMs, () => {
    timeout.abort();
  });
  try {
    const position = await eventStore.lastPosition({ types: projection.handles });
    const documents = await readLive(projection, readModels, async (model) => {
      if (model === null || !(await readModels.reached(model, position, timeout.signal)))
        throw new ProjectionBehind(projection.name);
      return readModels.find(model, query);
    });
    return documents as readonly (StoredDocument & { readonly body: Document })[];
  } finally {
    cancel();
  }
};
