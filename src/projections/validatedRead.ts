import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { Fold } from '../events/fold.js';
import type { Seed, StreamFolds } from '../events/streamFolds.js';
import type { Projection } from './projection.js';
import { readLive } from './runner/versions.js';
import { ReadModelStoreUnavailable, type ReadModelStore } from './store/readModelStore.js';

export interface ValidatedDocument<Document> {
  /** `null` when the stream does not exist, or its events deleted the document. */
  readonly document: Document | null;
  /** The stream's revision that the document reflects. */
  readonly revision: bigint;
}

/**
 * Reads one document as of now: the stored document, or the one kept from the last read, with the
 * newer events of its stream folded over it. It reflects every write that was acknowledged before
 * the call, whether or not a projector is running.
 * @param through the last revision to reflect: with the one that a command left the stream at, the
 * document is what the command made of it, whatever others did since
 * @param since as of `ReadStreamOptions`
 * @throws EventStoreUnavailable and the other faults of `EventStore.readStream`; UnknownEvent,
 * because a document without that event would be a guess
 */
export type ValidatedRead = <Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  id: string,
  through?: bigint,
  since?: number,
) => Promise<ValidatedDocument<Document>>;

export const createValidatedRead = ({ folds, readModels }: { folds: StreamFolds; readModels: ReadModelStore }): ValidatedRead => {
  /** The document that a projector wrote, if this build understands it. */
  const storedDocument = async <Document extends JsonObject, Event extends DomainEvent>(
    projection: Projection<Document, Event>,
    id: string,
  ): Promise<Seed<Document | null> | null> => {
    try {
      const stored = await readLive(projection, readModels, (model) =>
        model === null ? Promise.resolve(null) : readModels.get(model, id),
      );
      if (stored === null) return null;
      const { body, revision, position } = stored;
      return { state: body as Document, revision, position, at: '' };
    } catch (error) {
      // The stored document only saves reading the whole stream: the log alone gives the same
      // result.
      if (error instanceof ReadModelStoreUnavailable) return null;
      throw error;
    }
  };

  return async (projection, id, through, since) => {
    const { state, revision } = await folds.load(foldOf(projection), projection.stream(id), {
      seed: () => storedDocument(projection, id),
      through,
      since,
    });
    return { document: state, revision };
  };
};

const foldOf = <Document extends JsonObject, Event extends DomainEvent>({
  name,
  evolve,
}: Projection<Document, Event>): Fold<Document | null, Event> => ({ name: `projection:${name}`, initialState: null, evolve });
