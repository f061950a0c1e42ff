import type { Logger } from '../../platform/logger.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { CronJob } from './cronWorker.js';

/**
 * Removes expired records, such as responses stored for idempotency keys, once an hour. Several
 * processes may do so at the same time, and each continues what another left when it died.
 */
export const maintenanceJob = ({ records, logger }: { records: RecordStore; logger: Logger }): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const removed = await records.purgeExpired();
    logger.info({ records: removed }, 'expired records are removed');
  },
});
