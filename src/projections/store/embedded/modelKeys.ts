import { ReadModelDropped, type ReadModel } from '../readModelStore.js';
import type { Database } from './database.js';

/** Finds the versions of read models in the file. Call it inside a transaction, or once a statement. */
export interface ModelKeys {
  /** @throws ReadModelDropped */
  readonly keyOf: (model: ReadModel) => bigint;
  /** Looks for the version anew. @throws ReadModelDropped */
  readonly checkpointOf: (model: ReadModel) => bigint;
  /** The version is not there, or no longer. */
  readonly dropped: (model: ReadModel) => ReadModelDropped;
  readonly forget: (model: ReadModel) => void;
}

export const createModelKeys = ({ statement }: Pick<Database, 'statement'>): ModelKeys => {
  // Safe to cache: a version's key never changes and is never reused, so the key of a dropped
  // version finds nothing.
  const keys = new Map<string, bigint>();

  const nameOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

  const forget = (model: ReadModel): void => {
    keys.delete(nameOf(model));
  };

  const dropped = (model: ReadModel): ReadModelDropped => {
    forget(model);
    return new ReadModelDropped(model);
  };

  const keyOf = (model: ReadModel): bigint => {
    const name = nameOf(model);
    const known = keys.get(name);
    if (known !== undefined) return known;
    const row = statement('SELECT key FROM model WHERE name = ? AND version = ?').get(model.name, model.version) as
      { key: bigint } | undefined;
    if (row === undefined) throw dropped(model);
    keys.set(name, row.key);
    return row.key;
  };

  const checkpointOf = (model: ReadModel): bigint => {
    const row = statement('SELECT checkpoint FROM model WHERE key = ?').get(keyOf(model)) as { checkpoint: bigint } | undefined;
    if (row === undefined) throw dropped(model);
    return row.checkpoint;
  };

  return { keyOf, checkpointOf, dropped, forget };
};
