import type { Codec } from '../../events/codec.js';
import type { Recorded } from '../../events/envelope.js';
import { START, type EventStore } from '../../events/store/eventStore.js';
import { readLive } from '../runner/versions.js';
import type { ReadModelStore, StoredDocument } from '../store/readModelStore.js';
import { parkedWorkProjection, type ParkedWork, type ParkingEvent } from './parkedWork.projection.js';

export interface ParkedCount {
  readonly worker: string;
  readonly state: ParkedWork['state'];
  readonly count: number;
}

/** How much is parked and fails of each of these workers, as far as a projector has got. */
export const countParked = (workers: readonly string[], readModels: ReadModelStore): Promise<readonly ParkedCount[]> =>
  readLive(parkedWorkProjection, readModels, async (model) => {
    if (model === null) return [];
    const counts = workers.flatMap((worker) =>
      (['parked', 'failing'] as const).map(async (state) => ({
        worker,
        state,
        count: await readModels.count(model, { where: { worker, state } }),
      })),
    );
    return Promise.all(counts);
  });

const pageSize = 500;

/**
 * What is parked or fails at the end of the log, oldest first. It needs no projector: events that
 * none has applied yet are folded here.
 */
export const listParked = ({
  eventStore,
  readModels,
  codec,
}: {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly codec: Codec;
}): Promise<readonly ParkedWork[]> =>
  readLive(parkedWorkProjection, readModels, async (model) => {
    const found = new Map<string, Pick<StoredDocument, 'position' | 'body'>>();
    let after = model === null ? START : await readModels.checkpoint(model);
    if (model !== null) {
      for (let last: string | undefined; ;) {
        const page = { order: 'ascending', limit: pageSize, ...(last !== undefined && { after: last }) } as const;
        const documents = await readModels.find(model, page);
        for (const { id, position, body } of documents) found.set(id, { position, body });
        last = documents.at(-1)?.id;
        if (documents.length < pageSize) break;
      }
    }
    for (;;) {
      const { events, position } = await eventStore.readAll({ after, filter: { types: parkedWorkProjection.handles } });
      for (const stored of events) {
        const event = codec.decode(stored) as Recorded<ParkingEvent>;
        const id = parkedWorkProjection.documentId(event);
        // The document may be newer than the checkpoint that was read before it.
        if ((found.get(id)?.position ?? START) >= stored.position) continue;
        const body = parkedWorkProjection.evolve(null, event);
        if (body === null) found.delete(id);
        else found.set(id, { position: stored.position, body });
      }
      after = position;
      if (events.length === 0) break;
    }
    const inOrder = [...found.values()].sort((a, b) => Number(a.position - b.position));
    return inOrder.map(({ body }) => body as ParkedWork);
  });
