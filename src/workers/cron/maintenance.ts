import type { Outbox } from '../../integrations/email/port.js';
import type { SitePreviews } from '../../integrations/hosting/port.js';
import type { Logger } from '../../platform/logger.js';
import type { SecretVault } from '../../platform/vault/vault.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { CronJob } from './cronWorker.js';

/**
 * Removes expired records, such as responses stored for idempotency keys, and expired secrets, such
 * as payloads of parked webhooks, drafts of sites that have ended, and old mails, once an hour. Several
 * processes may do so at the same time, and each continues what another left when it died.
 */
export const maintenanceJob = ({
  records,
  vault,
  previews,
  mails,
  logger,
}: {
  records: RecordStore;
  vault: SecretVault;
  /** Default: there are none. */
  previews?: Pick<SitePreviews, 'removeEnded'>;
  /** Default: none are stored. */
  mails?: Pick<Outbox, 'removeOld'>;
  logger: Logger;
}): CronJob => ({
  name: 'maintenance',
  schedule: '0 * * * *',
  run: async () => {
    const ended = (await previews?.removeEnded()) ?? 0;
    const removed = (await records.purgeExpired()) + (await vault.purgeSecrets()) + ended;
    const days = (await mails?.removeOld()) ?? 0;
    if (days > 0) logger.info({ days }, 'old mails are removed from the outbox');
    // Idle work is no news.
    logger[removed > 0 ? 'info' : 'debug']({ records: removed }, 'expired records are removed');
  },
});
