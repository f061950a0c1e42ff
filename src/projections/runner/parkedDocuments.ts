import type { JsonObject } from '../../events/envelope.js';
import type { ReadModel, ReadModelStore } from '../store/readModelStore.js';

/** A document that the store cannot hold. It stays as it was before the event at `position`. */
export interface ParkedDocument {
  readonly id: string;
  readonly position: bigint;
}

const collection = 'parkedDocuments';

const keyOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

/** The parked documents of a version, which no projector writes any more. */
export const parkedDocuments = async (model: ReadModel, { modelRecords }: ReadModelStore): Promise<readonly ParkedDocument[]> => {
  const stored = (await modelRecords.get(collection, keyOf(model))) as {
    readonly positions: Readonly<Record<string, string>>;
  } | null;
  return Object.entries(stored?.positions ?? {}).map(([id, position]) => ({ id, position: BigInt(position) }));
};

/** Adds documents to those that are parked. */
export const parkDocuments = async (
  model: ReadModel,
  documents: readonly ParkedDocument[],
  readModels: ReadModelStore,
): Promise<void> => {
  const all = [...(await parkedDocuments(model, readModels)), ...documents];
  const positions: JsonObject = Object.fromEntries(all.map(({ id, position }) => [id, String(position)]));
  await readModels.modelRecords.put(collection, keyOf(model), { positions });
};
