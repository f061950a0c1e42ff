import { deserialize, serialize } from 'node:v8';
import type { Snapshot, Snapshots, Snapshotting } from '../events/streamFolds.js';
import type { Clock } from '../platform/clock.js';
import { ReadModelStoreUnavailable, type RecordStore } from './store/readModelStore.js';

const collection = 'foldSnapshot';

/** A stream that nobody has read for so long begins anew. */
const keptMs = 30 * 86_400_000;

/** MongoDB holds documents of at most 16 MB. */
const maxCharacters = 8_000_000;

/**
 * Snapshots of long streams as records. What is personal in a state is encrypted, as in the events
 * that it was folded from, so that an erased person is unreadable here too.
 */
export const createFoldSnapshots = (records: RecordStore, clock: Clock): Snapshots => ({
  load: async ({ name, snapshotVersion }, stream) => {
    try {
      const found = await records.get(collection, keyOf(name, stream));
      const { version, data } = found ?? {};
      if (version !== versionOf(snapshotVersion) || typeof data !== 'string') return null;
      return deserialize(Buffer.from(data, 'base64')) as Snapshot;
    } catch (fault) {
      // The log alone gives the same result.
      if (fault instanceof ReadModelStoreUnavailable) return null;
      throw fault;
    }
  },

  save: async ({ name, snapshotVersion }, stream, snapshot) => {
    const data = serialize(snapshot).toString('base64');
    if (data.length > maxCharacters) return;
    try {
      const version = versionOf(snapshotVersion);
      await records.put(collection, keyOf(name, stream), { version, data }, clock.now() + keptMs);
    } catch (fault) {
      // The next load that reads as many events tries again.
      if (!(fault instanceof ReadModelStoreUnavailable)) throw fault;
    }
  },
});

const keyOf = (name: string, stream: string): string => `${name}/${stream}`;

/** What one V8 wrote, an older one may not be able to read. */
const versionOf = (snapshotVersion: Snapshotting['snapshotVersion']): string =>
  `${String(snapshotVersion)} ${process.versions.v8.split('.')[0] ?? ''}`;
