import type { Tool } from '../tool.js';
import { eraseClient, explainAccess, giveAccess, offerTransfer, removeAccess } from './access.tools.js';
import { auditLog } from './audit.tools.js';
import { billingSummary } from './billing.tools.js';
import { publishWebsite, readContent, saveContent } from './content.tools.js';
import { deliveryHistory, moveEta, planDelivery, setCheckpoint, undoDeliveryChange } from './delivery.tools.js';
import { createWebsite, retryProvisioning } from './provisioning.tools.js';
import { changeWebsite } from './website.tools.js';
import { findWebsites, websiteStatus } from './websites.tools.js';

/** All tools, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  findWebsites,
  websiteStatus,
  createWebsite,
  retryProvisioning,
  changeWebsite,
  moveEta,
  setCheckpoint,
  planDelivery,
  deliveryHistory,
  undoDeliveryChange,
  explainAccess,
  giveAccess,
  removeAccess,
  eraseClient,
  offerTransfer,
  billingSummary,
  readContent,
  saveContent,
  publishWebsite,
  auditLog,
];
