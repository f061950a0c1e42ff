import type { WorkStatus } from '../http/metrics.js';
import type { Settings } from '../platform/settings/settings.js';
import { countParked } from '../projections/parkedWork/parkedWork.queries.js';
import { createAccessWorker } from '../workers/access/accessWorker.js';
import { createLedgerWorker } from '../workers/billing/ledgerWorker.js';
import { createCronWorker } from '../workers/cron/cronWorker.js';
import { maintenanceJob } from '../workers/cron/maintenance.js';
import {
  createDeletionWorker,
  createScheduledDeletionWorker,
  createSlugReleaseWorker,
} from '../workers/deletion/deletionWorker.js';
import { createRedeployWorker } from '../workers/deployment/deploymentWorker.js';
import { createDomainWorker } from '../workers/domain/domainWorker.js';
import { createErasureWorker } from '../workers/erasure/erasureWorker.js';
import { fileSweep } from '../workers/files/fileSweep.js';
import { createFileWorker } from '../workers/files/fileWorker.js';
import { createFolderMove } from '../workers/files/folderMove.js';
import { createInvitationMailWorker } from '../workers/invitationMail/invitationMailWorker.js';
import { createLocalPushWorker } from '../workers/push/localPushWorker.js';
import { createPublicationWorker } from '../workers/publication/publicationWorker.js';
import { createPushWorker } from '../workers/push/pushWorker.js';
import { createNoticeMailWorker } from '../workers/noticeMail/noticeMailWorker.js';
import { createProvisioningWorker } from '../workers/provisioning/provisioningWorker.js';
import { createScan } from '../workers/seo/scan.js';
import { createSeoScanWorker } from '../workers/seo/seoWorker.js';
import { createSeoRunWorker, scheduledSeoScans } from '../workers/seoRun/seoRunWorker.js';
import { createServiceSecretsWorker } from '../workers/service/serviceSecretsWorker.js';
import { createSiteWorker } from '../workers/site/siteWorker.js';
import { createTransferWorker } from '../workers/transfer/transferWorker.js';
import { createCommerceWebhooksWorker } from '../workers/webhook/webhookWorker.js';
import type { Worker } from '../workers/worker.js';
import { workerStatus } from '../workers/workerStatus.js';
import type { Address } from './address.js';
import type { Core } from './core.js';
import type { Integrations } from './integrations.js';

/** The processes, and the calendar that wakes some of them. */
export const composeWorkers = (
  { seoScanSchedule, brand, auth, mail }: Settings,
  { engine, reader, createReactor, stores: { readModels } }: Core,
  integrations: Integrations,
  { baseUrl, toLocalUrl }: Address,
  { mailsFolder }: { mailsFolder: string },
): { readonly workers: readonly Worker[]; readonly cron: Worker } => {
  const { clock, logger } = engine;
  const {
    sourceHost,
    findMedia,
    limitSiteFiles,
    previews,
    storedMails,
    gitServer,
    hosting,
    deployments,
    siteAddress,
    fetchStatus,
    email,
    payments,
    ledger,
    erasure,
    llm,
    identityProvider,
  } = integrations;
  const core = { engine, reader, createReactor };
  const deploying = { ...core, hosting, deployments };
  const mails = {
    email,
    baseUrl,
    look: { brand, folder: mailsFolder },
    languageOf: async (address: string) => (await identityProvider?.languageOf?.(address)) ?? mail.language,
  };
  return {
    workers: [
      createSeoScanWorker({ ...core, scan: createScan({ clock, servedSiteUrl: toLocalUrl, llm }), siteAddress }),
      createSeoRunWorker({ ...core, siteAddress }),
      createProvisioningWorker({ ...core, sourceHost, hosting, visit: fetchStatus }),
      createRedeployWorker({ ...core, hosting }),
      createSiteWorker(deploying),
      createScheduledDeletionWorker(core),
      createDeletionWorker({ ...core, sourceHost, hosting }),
      createSlugReleaseWorker(core),
      createDomainWorker({ ...core, hosting }),
      createPublicationWorker({ ...deploying, sourceHost, findMedia, limitSiteFiles }),
      createPushWorker(deploying),
      ...(gitServer === undefined ? [] : [createLocalPushWorker({ engine, reader, hosting, gitServer })]),
      createInvitationMailWorker({ ...core, ...mails }),
      createNoticeMailWorker({ ...core, ...mails, adminEmails: auth.adminEmails }),
      createAccessWorker(core),
      createErasureWorker({ ...core, erasure }),
      createServiceSecretsWorker(core),
      createFileWorker({ ...core, files: integrations.files }),
      createCommerceWebhooksWorker(core),
      createTransferWorker({ ...core, payments }),
      ...(ledger === undefined ? [] : [createLedgerWorker({ ...core, ledger: { ...payments, ...ledger } })]),
      createFolderMove({ folders: integrations.folders, clock, logger }),
    ],
    cron: createCronWorker(engine, [
      maintenanceJob({ records: readModels.records, vault: engine.vault, previews, mails: storedMails, logger }),
      fileSweep({ engine, reader, files: integrations.files, records: readModels.records }),
      scheduledSeoScans(engine, seoScanSchedule),
    ]),
  };
};

/** For metrics: how far the workers are behind, and what is parked. */
export const composeWorkStatus = (
  { engine: { clock }, stores: { eventStore, readModels } }: Core,
  workers: readonly Worker[],
): (() => Promise<WorkStatus>) => {
  const names = workers.flatMap(({ name, reactsTo }) => (reactsTo === undefined ? [] : [name]));
  return async () => {
    const [status, parked] = await Promise.all([
      workerStatus(workers, { eventStore, records: readModels.records, clock }),
      countParked(names, readModels),
    ]);
    return { workers: status, parked };
  };
};
