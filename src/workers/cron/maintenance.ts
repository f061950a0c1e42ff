import type { Engine } from '../../engine.js';
import type { CronJob } from './cronWorker.js';

/** Once an hour, what nobody needs any more goes: expired records (answers kept for idempotency keys, claims of runs). */
export const maintenanceJob = ({ readModels, logger }: Engine): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const records = await readModels.records.purgeExpired();
    logger.info({ records }, 'expired records are removed');
  },
});
