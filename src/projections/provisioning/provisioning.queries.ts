import type { Reader } from '../reader.js';
import { provisioningProjection, queuedJob, type ProvisioningDocument } from './provisioning.projection.js';
import type { ValidatedDocument } from '../validatedRead.js';
import type { WebsiteDocument } from '../website/website.projection.js';

/** A website's provisioning job as of now. A website has one from its creation on, whether or not a worker has seen it yet. */
export const provisioningJob = async (
  reader: Reader,
  website: WebsiteDocument,
): Promise<ValidatedDocument<ProvisioningDocument> & { readonly document: ProvisioningDocument }> => {
  const { document, revision } = await reader.read(provisioningProjection, website.provisioningJobId);
  const { id: websiteId, provisioningJobId: id, createdAt } = website;
  return { document: document ?? queuedJob({ id, websiteId, createdAt }), revision };
};
