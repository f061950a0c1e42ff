import type { Logger } from '../../platform/logger.js';
import type { SecretVault } from '../../platform/vault.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { CronJob } from './cronWorker.js';

/**
 * Removes expired records, such as responses stored for idempotency keys, and expired secrets, such
 * as payloads of parked webhooks, once an hour. Several
 * processes may do so at the same time, and each continues what another left when it died.
 */
export const maintenanceJob = ({
  records,
  vault,
  logger,
}: {
  records: RecordStore;
  vault: SecretVault;
  logger: Logger;
}): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const removed = (await records.purgeExpired()) + (await vault.purgeSecrets());
    // Idle work is no news.
    logger[removed > 0 ? 'info' : 'debug']({ records: removed }, 'expired records are removed');
  },
});
