import { websiteDecider } from '../../commands/website/website.decider.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import { areSameValues } from '../../events/website/siteValues.js';
import type { Deployments } from '../../integrations/deployments.js';
import type { Deployment } from '../../integrations/hosting/port.js';
import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import { redeployMarker, redeployProcess, startOf } from '../deployment/deployment.process.js';
import { commandAfterDeployment, siteFold, siteProcess } from './site.process.js';

/**
 * Deploys a website with what its variables say, and records that and what the site shows. Repeated,
 * it is the same deployment.
 */
export const redeploy = async (
  { engine, deployments }: { readonly engine: Engine; readonly deployments: Deployments },
  website: WebsiteDocument & Required<Pick<WebsiteDocument, 'hosting'>>,
  redeployId: string,
  contextNow: () => CommandContext,
): Promise<Deployment> => {
  const { id: websiteId, built } = website;
  const values = (await engine.state(siteFold, { websiteId })).state.set ?? built;
  const wanted = { marker: redeployMarker(redeployId), isShown: areSameValues(values, built) };
  const deployment = await deployments.start(website, wanted, contextNow());
  const command = commandAfterDeployment(website, { redeployId, deployment, values });
  if (command?.type === 'RecordDeployment') await engine.handle(websiteDecider, command, contextNow());
  if (command?.type === 'QueueRedeploy') await engine.handle(siteProcess, command, contextNow());
  // Last, because after it nothing of this is repeated.
  await engine.handle(redeployProcess, startOf({ redeployId, websiteId }, deployment), contextNow());
  return deployment;
};
