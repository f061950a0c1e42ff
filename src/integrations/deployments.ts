import { createKeyedMutex } from '../platform/keyedMutex.js';
import { ProviderFault } from './fault.js';
import type { SourceHost } from './sourceHost/port.js';
import type { Deployment, Hosting } from './hosting/port.js';

/** What is deployed of a website. */
interface Site {
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
  findUnchanged(site: Site): Promise<Deployment | null>;
  /**
   * Starts a deployment of a website, one at a time within this process.
   * @param isShown whether the site shows what the website says: then none is started when one is unchanged
   */
  start(site: Site, marker: string, isShown: boolean): Promise<Deployment>;
}

export const createDeployments = ({ sourceHost, hosting }: { sourceHost: SourceHost; hosting: Hosting }): Deployments => {
  const mutex = createKeyedMutex();

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

  return {
    findUnchanged,
    start: (site, marker, isShown) => {
      const { projectId } = site.hosting;
      return mutex.run(
        projectId,
        async () => (isShown ? await findUnchanged(site) : null) ?? hosting.startDeployment(projectId, marker),
      );
    },
  };
};
