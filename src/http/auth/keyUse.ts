import { createCache } from '../../platform/cache.js';
import type { Logger } from '../../platform/logger.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import { isoTime } from '../../platform/clock.js';

/** When API keys were last used, to the minute. */
export interface KeyUse {
  /**
   * Notes a use; it is written aside, at most once per key and minute, and never holds the request
   * up.
   */
  note(keyId: string, atMs: number): void;
  /** ISO 8601 UTC; absent when the key was not used for 400 days. */
  lastUsedAt(keyId: string): Promise<string | undefined>;
}

const collection = 'apiKeyUse';
const minuteMs = 60_000;
/** Records of keys that were revoked since would stay for ever. */
const keptMs = 400 * 86_400_000;

export const createKeyUse = ({ records, logger }: { records: RecordStore; logger: Logger }): KeyUse => {
  const written = createCache<number>(10_000);

  return {
    note: (keyId, atMs) => {
      const minute = Math.floor(atMs / minuteMs);
      if (written.get(keyId) === minute) return;
      written.set(keyId, minute);
      records.put(collection, keyId, { at: isoTime(minute * minuteMs) }, atMs + keptMs).catch((err: unknown) => {
        logger.warn({ err, keyId }, 'the time of use of an API key was not stored');
      });
    },
    lastUsedAt: async (keyId) => {
      const record = await records.get(collection, keyId);
      return typeof record?.at === 'string' ? record.at : undefined;
    },
  };
};
