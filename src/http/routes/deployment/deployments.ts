import type { CommandContext } from '../../../commands/handleCommand.js';
import type { SiteValues } from '../../../events/website/siteValues.js';
import type { Deployment } from '../../../integrations/hosting/port.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { isListedAsFailed } from '../../../projections/website/website.queries.js';

type Deployed = WebsiteDocument & Required<Pick<WebsiteDocument, 'hosting'>>;

/** The deployments of this process, which its workers make too. */
export interface Deployments {
  /** What the site shows already, when another deployment would show the same. Else null, and when a provider cannot say. */
  findUnchanged(website: Deployed): Promise<Deployment | null>;
  /** Deploys a website whose variables say `values`, and records that. Repeated, it is the same deployment. */
  redeploy(website: Deployed, redeployId: string, contextNow: () => CommandContext, values: SiteValues): Promise<Deployment>;
}

/** What answers a request for a deployment when nothing has changed since that one; else null. */
export const unchangedDeployment = async (
  { reader, deployments }: { readonly reader: Reader; readonly deployments: Deployments },
  website: Deployed,
): Promise<Deployment | null> => {
  const unchanged = await deployments.findUnchanged(website);
  // Another one is made when the last one has failed, because lists say so until another one has begun.
  return unchanged === null || (await isListedAsFailed(reader, website.id)) ? null : unchanged;
};
