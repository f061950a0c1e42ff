import { isoTime } from '../../platform/clock.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';

/** Longer than two machines' clocks differ, and than a process looks back for runs that nobody began. */
const keptMs = 48 * 60 * 60_000;

/**
 * Says whether `by`, an id used for nothing else, is the one that runs what `schedule` has due at `dueAt` (ms since the epoch):
 * of all that ask, in any process, exactly one is. It may ask again when the answer was lost. Whoever was told so and dies takes the
 * run along: nobody begins it again.
 *
 * @throws ReadModelStoreUnavailable: not known yet
 */
export const claimRun = async (
  records: RecordStore,
  { schedule, dueAt, by }: { readonly schedule: string; readonly dueAt: number; readonly by: string },
): Promise<boolean> => {
  const key = `${schedule} ${isoTime(dueAt)}`;
  if (await records.insert('cronRuns', key, { by }, dueAt + keptMs)) return true;
  return (await records.get('cronRuns', key))?.['by'] === by;
};
