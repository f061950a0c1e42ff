import type { MongoBulkWriteError } from 'mongodb';

/** MongoDB's code for a value that a unique index holds already. */
const duplicateKeyCode = 11000;

/**
 * Whether a write was refused because a document with its `_id` exists. A guarded upsert gets this
 * answer when its guard does not match the stored document. A duplicate in any other index is an
 * ordinary fault.
 */
export const isDuplicateId = (fault: unknown): boolean => {
  if (typeof fault !== 'object' || fault === null || !('code' in fault) || fault.code !== duplicateKeyCode) return false;
  if ('keyPattern' in fault && typeof fault.keyPattern === 'object' && fault.keyPattern !== null)
    return Object.keys(fault.keyPattern).join() === '_id';
  // Compatible servers, and MongoDB before 4.4, name the index in words only or not at all. Only
  // `_id` is unique here.
  const index = /\bindex: (\S+)/.exec('message' in fault ? String(fault.message) : '')?.[1];
  return index === undefined || index === '_id_' || index === '_id';
};

/** The outcome of a bulk write of which some writes were refused as duplicates. */
export interface PartialBulkWrite {
  /** Indexes of the writes that were refused because a document with their `_id` exists. */
  readonly duplicates: readonly number[];
  /** Number of writes that had an outcome, duplicates included. */
  readonly settled: number;
}

/**
 * The outcome of a bulk write that failed with `fault`, or `null` when it failed for any other
 * reason too.
 */
export const duplicateIdsIn = (fault: unknown): PartialBulkWrite | null => {
  if (!isBulkFault(fault) || fault.result.getWriteConcernError() !== undefined) return null;
  const errors = [fault.writeErrors].flat();
  const areAllDuplicates = errors.every(({ code, errmsg, err }) =>
    isDuplicateId({ code, message: errmsg, keyPattern: (err as { keyPattern?: unknown }).keyPattern }),
  );
  if (errors.length === 0 || !areAllDuplicates) return null;
  const duplicates = errors.map(({ index }) => index);
  return { duplicates, settled: duplicates.length + fault.result.matchedCount + fault.result.upsertedCount };
};

const isBulkFault = (fault: unknown): fault is MongoBulkWriteError =>
  fault instanceof Error && fault.name === 'MongoBulkWriteError';
