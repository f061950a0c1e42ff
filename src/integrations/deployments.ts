import type { CommandContext } from '../commands/handleCommand.js';
import { ProviderFault } from './fault.js';
import type { SourceHost } from './sourceHost/port.js';
import type { Deployment, Hosting } from './hosting/port.js';

/** What is deployed of a website. */
interface Site {
  /** Of the website. */
  readonly id: string;
  readonly repository?: { readonly provider: string; readonly id: string };
  readonly hosting: { readonly projectId: string };
}

/**
 * Runs `act` while nobody else acts for that website, in any process. When a process dies in it, the next one
 * begins some seconds later. `act` is repeated when its process slept meanwhile, so that another may have acted.
 * @param act begins after the call has returned, and calls `assertHeld` right before it begins anything at a provider
 */
export type DeploymentLease = <Result>(
  websiteId: string,
  context: CommandContext,
  act: (assertHeld: () => void) => Promise<Result>,
) => Promise<Result>;

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
  start(site: Site, wanted: { readonly marker: string; readonly isShown: boolean }, context: CommandContext): Promise<Deployment>;
}

export const createDeployments = (parts: {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly deploymentLease: DeploymentLease;
}): Deployments => {
  const { sourceHost, hosting, deploymentLease } = parts;

  const findUnchanged: Deployments['findUnchanged'] = async ({ repository, hosting: { projectId } }) => {
    // A repository elsewhere cannot be asked.
    if (repository?.provider !== sourceHost.provider) return null;
    try {
      const { head } = await sourceHost.readFiles(repository.id, []);
      return await hosting.findUnchanged(projectId, head);
    } catch (error) {
      // It is not known, so it is built once more; the one who builds says when that cannot be asked for either.
      if (error instanceof ProviderFault) return null;
      throw error;
    }
  };

  /** Starts that wait for their lease, by website. */
  const waiting = new Map<string, Promise<Deployment>>();

  const startUnderLease: Deployments['start'] = (site, { marker, isShown }, context) => {
    const { id } = site;
    const stopWaiting = (): void => {
      if (waiting.get(id) === started) waiting.delete(id);
    };
    const started = deploymentLease(id, context, async (assertHeld) => {
      stopWaiting();
      const unchanged = await findUnchanged(site);
      if (unchanged !== null && (isShown || unchanged.status === 'ready')) return unchanged;
      assertHeld();
      return hosting.startDeployment(site.hosting.projectId, marker);
    }).finally(stopWaiting);
    waiting.set(id, started);
    return started;
  };

  return {
    findUnchanged,
    // What waits has not looked at the repository yet, so it shows what this one is to show.
    start: async (site, wanted, context) =>
      (wanted.isShown ? waiting.get(site.id) : undefined) ?? startUnderLease(site, wanted, context),
  };
};
