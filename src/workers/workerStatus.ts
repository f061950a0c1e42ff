import type { EventStore } from '../events/store/eventStore.js';
import type { Clock } from '../platform/clock.js';
import { lagBehind, type Lag } from '../projections/runner/status.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { Worker } from './worker.js';
import { loadPosition } from './workerPositions.js';

export interface WorkerStatus extends Lag {
  readonly name: string;
}

/**
 * How far each worker that reacts to events is behind, whichever process it runs in: what it
 * retries or waits for counts as not done. Positions are stored once a second.
 * @throws EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const workerStatus = async (
  workers: readonly Worker[],
  { eventStore, records, clock }: { eventStore: EventStore; records: RecordStore; clock: Clock },
): Promise<readonly WorkerStatus[]> => {
  const end = await eventStore.lastPosition();
  return Promise.all(
    workers.flatMap(({ name, reactsTo }) => {
      if (reactsTo === undefined) return [];
      const status = async (): Promise<WorkerStatus> => {
        const position = await loadPosition(records, { name, reactsTo });
        return { name, ...(await lagBehind(reactsTo, position, end, { eventStore, clock })) };
      };
      return [status()];
    }),
  );
};
