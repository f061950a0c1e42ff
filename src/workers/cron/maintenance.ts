import type { SitePreviews } from '../../integrations/hosting/port.js';
import type { Logger } from '../../platform/logger.js';
import type { SecretVault } from '../../platform/vault.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { CronJob } from './cronWorker.js';

/**
 * Removes expired records, such as responses stored for idempotency keys, and expired secrets, such
 * as payloads of parked webhooks, and drafts of sites that have ended, once an hour. Several
 * processes may do so at the same time, and each continues what another left when it died.
 */
export const maintenanceJob = ({
  records,
  vault,
  previews,
  logger,
}: {
  records: RecordStore;
  vault: SecretVault;
  /** Default: there are none. */
  previews?: Pick<SitePreviews, 'removeEnded'>;
  logger: Logger;
}): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const ended = (await previews?.removeEnded()) ?? 0;
    const removed = (await records.purgeExpired()) + (await vault.purgeSecrets()) + ended;
    // Idle work is no news.
    logger[removed > 0 ? 'info' : 'debug']({ records: removed }, 'expired records are removed');
  },
});
