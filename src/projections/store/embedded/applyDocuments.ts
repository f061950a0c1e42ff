import type { ReadModel } from '../readModelStore.js';
import type { Database } from './database.js';
import { createDocumentWriter, type WriteWithText } from './documentWriter.js';
import type { ModelKeys } from './modelKeys.js';
import type { Tally } from './tally.js';

/**
 * `ReadModelStore.apply` on one connection: documents and the checkpoint in one transaction.
 * @throws ReadModelDropped, ReadModelStoreUnavailable; TypeError for an id that no document may have
 */
export const createApply = (
  database: Database,
  tally: Tally,
  { keyOf, checkpointOf, dropped }: ModelKeys,
): ((model: ReadModel, writes: readonly WriteWithText[], checkpoint: bigint) => Promise<void>) => {
  const { statement } = database;
  const writeDocuments = createDocumentWriter(database, tally);
  return (model, writes, checkpoint) =>
    database.write(() => {
      const key = keyOf(model);
      writeDocuments(model, key, model.isAppendOnly === true ? after(checkpointOf(model), writes) : writes);
      tally.advance(model, checkpoint);
      const { changes } = statement('UPDATE model SET checkpoint = max(checkpoint, ?) WHERE key = ?').run(checkpoint, key);
      if (changes === 0n) throw dropped(model);
    });
};

/** The checkpoint moves with the documents: up to there they are written. */
const after = (checkpoint: bigint, writes: readonly WriteWithText[]): readonly WriteWithText[] =>
  writes.filter(({ position }) => position > checkpoint);
