import type { CommandContext } from '../../commands/handleCommand.js';
import { websiteDecider } from '../../commands/website/website.decider.js';
import type { Engine } from '../../engine.js';
import { areSameValues, type SiteValues } from '../../events/website/siteValues.js';
import type { Deployment } from '../../integrations/hosting/port.js';
import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import { siteProcess } from './site.process.js';

/**
 * Notes what a site shows after a deployment that was built with these values; of a build that goes on,
 * the site's worker does when it has ended. Repeating it changes nothing.
 */
export const recordShown = async (
  engine: Pick<Engine, 'handle'>,
  { id: websiteId, built }: Pick<WebsiteDocument, 'id' | 'built'>,
  { redeployId, deployment: { id: deploymentId, status }, values }: ShownDeployment,
  context: CommandContext,
): Promise<void> => {
  if (status === 'failed' || areSameValues(values, built)) return;
  if (status === 'ready') {
    await engine.handle(websiteDecider, { type: 'RecordDeployment', websiteId, deploymentId, values }, context);
  } else {
    await engine.handle(siteProcess, { type: 'QueueRedeploy', websiteId, redeployId }, context);
  }
};

interface ShownDeployment {
  readonly redeployId: string;
  readonly deployment: Pick<Deployment, 'id' | 'status'>;
  readonly values: SiteValues;
}
