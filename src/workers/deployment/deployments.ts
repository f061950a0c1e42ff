import type { CommandContext } from '../../commands/handleCommand.js';
import { websiteDecider } from '../../commands/website/website.decider.js';
import type { Engine } from '../../engine.js';
import { areSameValues, type SiteValues } from '../../events/website/siteValues.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Deployment, Hosting } from '../../integrations/hosting/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import { commandAfterDeployment, siteFold, siteProcess } from '../site/site.process.js';
import { redeployMarker, redeployProcess, commandAfterStart } from './deployment.process.js';
import { createDeploymentLease } from './deploymentLease.js';

/** What is deployed of a website. */
interface Site {
  /** Of the website. */
  readonly id: string;
  readonly repository?: { readonly provider: string; readonly id: string };
  readonly hosting: { readonly projectId: string };
}

/** Deployments that people ask for. However often they do, there is one for each change. */
export interface Deployments {
  /**
   * What the site shows already, when another deployment would show the same: neither the head of its repository nor
   * its variables have changed since the newest one, which is building or ready. Else null, and when a provider
   * cannot say.
   */
  findUnchanged(site: Omit<Site, 'id'>): Promise<Deployment | null>;
  /**
   * Starts a deployment of a website, one at a time among all processes, unless one that is ready is unchanged.
   * @param wanted `isShown`: the site shows what the website says: then one that is building is enough, too
   */
  start(
    site: Site,
    wanted: { readonly marker: string; readonly isShown: boolean },
    contextNow: () => CommandContext,
  ): Promise<Deployment>;
  /**
   * Deploys a website with what its variables say, and records that and what the site shows. Repeated,
   * it is the same deployment.
   * @param values what the variables say. Default: what they were set to last
   */
  redeploy(
    website: Site & { readonly built: SiteValues },
    redeployId: string,
    contextNow: () => CommandContext,
    values?: SiteValues,
  ): Promise<Deployment>;
}

/** The deployments that one process makes: those of its requests and of its workers wait for each other. */
export const createDeployments = (parts: {
  readonly engine: Engine;
  readonly records: RecordStore;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}): Deployments => {
  const { engine, sourceHost, hosting } = parts;
  const deploymentLease = createDeploymentLease(parts);

  const findUnchanged: Deployments['findUnchanged'] = async ({ repository, hosting: { projectId } }) => {
    // A repository elsewhere cannot be asked.
    if (repository?.provider !== sourceHost.provider) return null;
    try {
      const { head } = await sourceHost.readFiles(repository.id, []);
      return await hosting.findUnchanged(projectId, head);
    } catch (error) {
      // Whether it has changed is unknown then, so it is built again. If the provider is down, that reports it.
      if (error instanceof ProviderFault) return null;
      throw error;
    }
  };

  /** Starts that wait for their lease, by website. */
  const waiting = new Map<string, Promise<Deployment>>();

  const startUnderLease: Deployments['start'] = (site, { marker, isShown }, contextNow) => {
    const { id } = site;
    const stopWaiting = (): void => {
      if (waiting.get(id) === started) waiting.delete(id);
    };
    const started = deploymentLease(id, contextNow, async (assertHeld) => {
      stopWaiting();
      const unchanged = await findUnchanged(site);
      if (unchanged !== null && (isShown || unchanged.status === 'ready')) return unchanged;
      assertHeld();
      return hosting.startDeployment(site.hosting.projectId, marker);
    }).finally(stopWaiting);
    waiting.set(id, started);
    return started;
  };

  // A start that waits has not read the repository yet, so it shows what this one is to show.
  const start: Deployments['start'] = async (site, wanted, contextNow) =>
    (wanted.isShown ? waiting.get(site.id) : undefined) ?? startUnderLease(site, wanted, contextNow);

  const redeploy: Deployments['redeploy'] = async (website, redeployId, contextNow, given) => {
    const { id: websiteId, built } = website;
    const values = given ?? (await engine.state(siteFold, { websiteId })).state.set ?? built;
    const wanted = { marker: redeployMarker(redeployId), isShown: areSameValues(values, built) };
    const deployment = await start(website, wanted, contextNow);
    const command = commandAfterDeployment(website, { redeployId, deployment, values });
    if (command?.type === 'RecordDeployment') await engine.handle(websiteDecider, command, contextNow());
    if (command?.type === 'QueueRedeploy') await engine.handle(siteProcess, command, contextNow());
    // Last, because after it nothing of this is repeated: until then a worker completes what an interruption cuts off.
    await engine.handle(redeployProcess, commandAfterStart({ redeployId, websiteId }, deployment), contextNow());
    return deployment;
  };

  return { findUnchanged, start, redeploy };
};
