import type { RecordEntry, RecordStore } from '../../src/projections/store/readModelStore.js';
import { workerPositions } from '../../src/workers/workerPositions.js';

const ofWorker = async (records: RecordStore, name: string): Promise<readonly RecordEntry[]> => {
  const found: RecordEntry[] = [];
  for await (const entry of records.entries())
    if (entry.collection === workerPositions && entry.key.startsWith(`${name}-`)) found.push(entry);
  return found;
};

/** The stored position of a worker that runs in one build. */
export const positionOf = async (records: RecordStore, name: string): Promise<string | undefined> =>
  (await ofWorker(records, name))[0]?.value['position'] as string | undefined;

export const losePosition = async (records: RecordStore, name: string): Promise<void> => {
  for (const { collection, key } of await ofWorker(records, name)) await records.delete(collection, key);
};
