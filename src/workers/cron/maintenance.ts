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
    const faults: unknown[] = [];
    /** How many were removed. A fault of one keeps none of the others from running. */
    const remove = async (work: (() => Promise<number>) | undefined): Promise<number> => {
      try {
        return (await work?.()) ?? 0;
      } catch (error) {
        faults.push(error);
        return 0;
      }
    };
    const ended = await remove(previews && (() => previews.removeEnded()));
    const expired = await remove(() => records.purgeExpired());
    const removed = ended + expired + (await remove(() => vault.purgeSecrets()));
    const days = await remove(mails && (() => mails.removeOld()));
    if (days > 0) logger.info({ days }, 'old mails are removed from the outbox');
    // Idle work is no news.
    logger[removed > 0 ? 'info' : 'debug']({ records: removed }, 'expired records are removed');
    if (faults.length > 0) throw new AggregateError(faults, 'not everything that has ended was removed');
  },
});
