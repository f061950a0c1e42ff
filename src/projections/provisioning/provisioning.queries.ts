import type { Reader } from '../reader.js';
import { provisioningProjection, queuedJob, type ProvisioningDocument } from './provisioning.projection.js';
import type { ValidatedDocument } from '../validatedRead.js';
import type { WebsiteDocument } from '../website/website.projection.js';

/**
 * The provisioning job of a website as of now, or of the revision `through` of its stream; a queued
 * one before a worker has recorded it.
 */
export const provisioningJob = async (
  reader: Reader,
  website: WebsiteDocument,
  through?: bigint,
): Promise<ValidatedDocument<ProvisioningDocument> & { readonly document: ProvisioningDocument }> => {
  const { document, revision } = await reader.read(provisioningProjection, website.provisioningJobId, through);
  const { id: websiteId, provisioningJobId: id, createdAt } = website;
  return { document: document ?? queuedJob({ id, websiteId, createdAt }), revision };
};
