import { Refused, refusals } from '../commands/refusal.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import type { Reader } from '../projections/reader.js';
import { storedBytes } from '../projections/storage/storage.queries.js';

/**
 * How many bytes of documents and media a website may have (`STORAGE_LIMIT`). What is deleted can be restored for 30
 * days and takes up to as much again; beyond that it counts too, so that nobody fills the disk by deleting.
 */
export interface StorageLimit {
  /** @throws Refused when there is no room for so many bytes already */
  readonly admit: (websiteId: string, bytes: number) => Promise<void>;
  /**
   * Runs what adds or restores files, with the bytes that there is room for. Those of one website run one after
   * the other in this process; of several processes each may add one file too many at the same time.
   */
  readonly withRoom: <Result>(websiteId: string, what: Change, change: (room: number) => Promise<Result>) => Promise<Result>;
}

type Change = 'added' | 'restored';

export const createStorageLimit = (reader: Reader, limit: number): StorageLimit => {
  const mutex = createKeyedMutex();
  const roomOf = async (websiteId: string, what: Change): Promise<number> => {
    const live = await storedBytes(reader, websiteId, 'live');
    const deleted = what === 'restored' ? 0 : await storedBytes(reader, websiteId, 'deleted');
    return limit - live - Math.max(0, deleted - limit);
  };
  return {
    admit: async (websiteId, bytes) => {
      if (bytes > (await roomOf(websiteId, 'added'))) throw new Refused(refusals.storageLimitReached(websiteId));
    },
    withRoom: (websiteId, what, change) => mutex.run(websiteId, async () => change(await roomOf(websiteId, what))),
  };
};
