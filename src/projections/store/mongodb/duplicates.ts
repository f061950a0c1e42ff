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
  // Compatible servers may say it in words only, as MongoDB itself did before 4.4.
  return /\bindex: _id_?(\s|$)/.test('message' in fault ? String(fault.message) : '');
};

/** Which writes of a bulk were refused because their `_id` is taken; `null` when that is not all that went wrong. */
export const takenIn = (fault: unknown): readonly number[] | null => {
  if (!isBulkFault(fault) || fault.result.getWriteConcernError() !== undefined) return null;
  const errors = [fault.writeErrors].flat();
  const taken = errors.filter(({ code, errmsg, err }) =>
    isTaken({ code, message: errmsg, keyPattern: (err as { keyPattern?: unknown }).keyPattern }),
  );
  return taken.length > 0 && taken.length === errors.length ? taken.map(({ index }) => index) : null;
};

const isBulkFault = (fault: unknown): fault is MongoBulkWriteError =>
  fault instanceof Error && fault.name === 'MongoBulkWriteError';
