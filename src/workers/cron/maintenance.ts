import type { Engine } from '../../engine.js';
import type { CronJob } from './cronWorker.js';

/**
 * Once an hour, what nobody needs any more goes: expired records, as answers kept for idempotency keys. Several processes may do so at the
 * same time, and what one leaves when it dies the next takes.
 */
export const maintenanceJob = ({ readModels, logger }: Engine): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const records = await readModels.records.purgeExpired();
    logger.info({ records }, 'expired records are removed');
  },
});
