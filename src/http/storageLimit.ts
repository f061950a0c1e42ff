import { Refused, refusals } from '../commands/refusal.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import type { Reader } from '../projections/reader.js';
import { storedBytes } from '../projections/storage/storage.queries.js';

/** How many bytes of documents and media a website may have (`STORAGE_LIMIT`). */
export interface StorageLimit {
  /** @throws Refused when there is no room for so many bytes already */
  readonly admit: (websiteId: string, bytes: number) => Promise<void>;
  /**
   * Runs what adds files, with the bytes that there is room for. Those of one website run one after
   * the other in this process; of several processes each may add one file too many at the same time.
   */
  readonly withRoom: <Result>(websiteId: string, add: (room: number) => Promise<Result>) => Promise<Result>;
}

export const createStorageLimit = (reader: Reader, limit: number): StorageLimit => {
  const mutex = createKeyedMutex();
  const roomOf = async (websiteId: string): Promise<number> => limit - (await storedBytes(reader, websiteId));
  return {
    admit: async (websiteId, bytes) => {
      if (bytes > (await roomOf(websiteId))) throw new Refused(refusals.storageLimitReached(websiteId));
    },
    withRoom: (websiteId, add) => mutex.run(websiteId, async () => add(await roomOf(websiteId))),
  };
};
