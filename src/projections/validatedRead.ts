import type { Fold } from '../commands/decider.js';
import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { Folded, StreamFolds } from '../events/streamFolds.js';
import type { Projection } from './projection.js';
import type { ReadModel, ReadModelStore } from './store/readModelStore.js';

export interface ValidatedDocument<Document> {
  /** `null` when the stream does not exist or its events deleted the document. */
  readonly document: Document | null;
  /** Revision of the stream that it reflects. */
  readonly revision: bigint;
}

/**
 * Reads one document as of now: the stored one (or the one kept from the last read) with every event folded over it that its
 * stream has beyond. It needs no projector to be alive, and what was acknowledged before the call is in it.
 */
export type ValidatedRead = <Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  id: string,
) => Promise<ValidatedDocument<Document>>;

export const createValidatedRead = (parts: {
  folds: StreamFolds;
  readModels: ReadModelStore;
  /** The version that answers reads now, if it is of this build's version; else null, and the whole stream is folded. */
  liveModel: (projection: Projection) => Promise<ReadModel | null>;
}): ValidatedRead => {
  const { folds, readModels, liveModel } = parts;
  const foldsByName = new Map<string, Fold<unknown>>();

  const foldOf = <Document extends JsonObject, Event extends DomainEvent>(
    projection: Projection<Document, Event>,
  ): Fold<Document | null, Event> => {
    let fold = foldsByName.get(projection.name) as Fold<Document | null, Event> | undefined;
    if (fold === undefined) {
      const handled = new Set<string>(projection.handles);
      fold = {
        name: `projection:${projection.name}`,
        initialState: null,
        evolve: (document, event) => (handled.has(event.type) ? projection.evolve(document, event) : document),
      };
      foldsByName.set(projection.name, fold as Fold<unknown>);
    }
    return fold;
  };

  return async (projection, id) => {
    const seed = async (): Promise<Folded<Awaited<ReturnType<typeof folds.load>>['state']> | null> => {
      const model = await liveModel(projection as unknown as Projection);
      const stored = model === null ? null : await readModels.get(model, id);
      return stored === null ? null : { state: stored.body, revision: stored.revision, at: '' };
    };
    const { state, revision } = await folds.load(foldOf(projection), projection.stream(id), seed as never);
    return { document: state, revision };
  };
};
