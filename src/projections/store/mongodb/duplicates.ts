import type { MongoBulkWriteError } from 'mongodb';

/** MongoDB's code for a value that a unique index holds already. */
const duplicate = 11000;

/**
 * Whether a write was refused because a document with its `_id` is there: what a guarded upsert is answered when the guard does
 * not let it pass. A duplicate in any other index is a fault like all others.
 */
export const isTaken = (fault: unknown): boolean => {
  if (typeof fault !== 'object' || fault === null || !('code' in fault) || fault.code !== duplicate) return false;
  if ('keyPattern' in fault && typeof fault.keyPattern === 'object' && fault.keyPattern !== null)
    return Object.keys(fault.keyPattern).join() === '_id';
  // Compatible servers, and MongoDB before 4.4, say it in words only, or do not say it: `_id` is the one that we make unique.
  const index = /\bindex: (\S+)/.exec('message' in fault ? String(fault.message) : '')?.[1];
  return index === undefined || index === '_id_' || index === '_id';
};

/** How a bulk of replacements ended that did not go through whole. */
export interface PartlyTaken {
  /** Which writes were refused because their `_id` is taken. */
  readonly taken: readonly number[];
  /** How many had an outcome, these included. */
  readonly settled: number;
}

/** `null` when a taken `_id` is not all that went wrong. */
export const takenIn = (fault: unknown): PartlyTaken | null => {
  if (!isBulkFault(fault) || fault.result.getWriteConcernError() !== undefined) return null;
  const errors = [fault.writeErrors].flat();
  const isAllTaken = errors.every(({ code, errmsg, err }) =>
    isTaken({ code, message: errmsg, keyPattern: (err as { keyPattern?: unknown }).keyPattern }),
  );
  if (errors.length === 0 || !isAllTaken) return null;
  const taken = errors.map(({ index }) => index);
  return { taken, settled: taken.length + fault.result.matchedCount + fault.result.upsertedCount };
};

const isBulkFault = (fault: unknown): fault is MongoBulkWriteError =>
  fault instanceof Error && fault.name === 'MongoBulkWriteError';
