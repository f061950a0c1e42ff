import { canonicalJson } from '../../platform/canonicalJson.js';
import type { RecordEntry, RecordStore } from '../../projections/store/readModelStore.js';
import { createSetDigest, type SetDigest } from './digest.js';
import { NotEqual } from './problems.js';

/** Which records are moved, and what a record of the old installation becomes. */
export interface RecordMove {
  readonly takes: (collection: string) => boolean;
  readonly toNew: (entry: RecordEntry) => RecordEntry;
}

/** Writes under way at once. */
const atOnce = 32;

/** Makes the records of the target those of the old store. */
export const copyRecords = async (old: RecordStore, target: RecordStore, move: RecordMove): Promise<void> => {
  // Those that an earlier attempt copied, and that were deleted since.
  for await (const { collection, key } of target.entries()) {
    if (move.takes(collection) && (await old.get(collection, key)) === null) await target.delete(collection, key);
  }
  let writing: Promise<void>[] = [];
  for await (const entry of old.entries()) {
    if (!move.takes(entry.collection)) continue;
    const { collection, key, value, expiresAt } = move.toNew(entry);
    writing.push(target.put(collection, key, value, expiresAt));
    if (writing.length < atOnce) continue;
    await Promise.all(writing);
    writing = [];
  }
  await Promise.all(writing);
};

/**
 * Reads both sides again.
 * @param until ms since the epoch: what expires before may have expired on one side alone, and is left out
 * @throws NotEqual
 */
export const compareRecords = async (
  what: string,
  old: RecordStore,
  target: RecordStore,
  move: RecordMove,
  until: number,
): Promise<SetDigest> => {
  const expected = await digestOf(old, move, until);
  const found = await digestOf(target, { ...move, toNew: (entry) => entry }, until);
  if (expected.hex() !== found.hex())
    throw new NotEqual(`${String(expected.count())} ${what} there, ${String(found.count())} here, with other content`);
  return found;
};

const digestOf = async (records: RecordStore, move: RecordMove, until: number): Promise<SetDigest> => {
  const digest = createSetDigest();
  for await (const entry of records.entries()) {
    if (!move.takes(entry.collection) || (entry.expiresAt ?? Infinity) < until) continue;
    const { collection, key, value, expiresAt = null } = move.toNew(entry);
    digest.add(JSON.stringify([collection, key, canonicalJson(value), expiresAt]));
  }
  return digest;
};
