import type { StepOutputs } from '../../events/provisioning/provisioning.events.js';
import type { Reader } from '../reader.js';
import { provisioningProjection, queuedJob, type ProvisioningDocument } from './provisioning.projection.js';
import type { ValidatedDocument } from '../validatedRead.js';
import type { WebsiteDocument } from '../website/website.projection.js';

/**
 * The provisioning job of a website as of now, or of the revision `through` of its stream; a queued
 * one before a worker has recorded it.
 */
export const provisioningJob = async (
  reader: Pick<Reader, 'read'>,
  website: WebsiteDocument,
  through?: bigint,
): Promise<ValidatedDocument<ProvisioningDocument> & { readonly document: ProvisioningDocument }> => {
  const { document, revision } = await reader.read(provisioningProjection, website.provisioningJobId, through);
  const { id: websiteId, provisioningJobId: id, createdAt } = website;
  return { document: document ?? queuedJob({ id, websiteId, createdAt }), revision };
};

/** What the steps of a job have left behind, as far as they were done. */
export const outputsOf = async (reader: Pick<Reader, 'read'>, jobId: string): Promise<Partial<StepOutputs>> => {
  const { document } = await reader.read(provisioningProjection, jobId);
  const done = (document?.steps ?? []).flatMap(({ id, output }) => (output === undefined ? [] : [[id, output]]));
  return Object.fromEntries(done) as Partial<StepOutputs>;
};

type Project = Pick<NonNullable<WebsiteDocument['hosting']>, 'provider' | 'projectId'>;

const projectIn = ({ steps }: ProvisioningDocument): Project | undefined => {
  const made = steps.find(({ id }) => id === 'vercel_create_project')?.output;
  return made !== undefined && 'projectId' in made ? { provider: made.provider, projectId: made.projectId } : undefined;
};

/** The hosting project of a website: the linked one or, while the provisioning is not through, that of its job. */
export const projectOf = async (reader: Pick<Reader, 'read'>, website: WebsiteDocument): Promise<Project | undefined> =>
  website.hosting ?? projectIn((await provisioningJob(reader, website)).document);

/**
 * The same, of a website that has been deployed. A deployment can be looked at also when a later step
 * fails.
 */
export const deployedProject = async (reader: Reader, website: WebsiteDocument): Promise<Project | undefined> => {
  if (website.hosting !== undefined) return website.hosting;
  const { document } = await provisioningJob(reader, website);
  const isDeployed = document.steps.find(({ id }) => id === 'vercel_initial_deploy')?.status === 'succeeded';
  return isDeployed ? projectIn(document) : undefined;
};
