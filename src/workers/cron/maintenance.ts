import type { Logger } from '../../platform/logger.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { CronJob } from './cronWorker.js';

/**
 * Once an hour, what nobody needs any more goes: expired records, as answers kept for idempotency
 * keys. Several processes may do so at the same time, and what one leaves when it dies the next
 * takes.
 */
export const maintenanceJob = ({ records, logger }: { records: RecordStore; logger: Logger }): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const removed = await records.purgeExpired();
    logger.info({ records: removed }, 'expired records are removed');
  },
});
