import type { Hosting } from './hosting/port.js';

/**
 * Serves the project at the domain, or serves it there no more, as `isWanted` says; and looks again
 * after it acted, so that of several at once the last one leaves what is wanted.
 * @returns whether it is wanted
 * @throws ProviderFault
 */
export const bringDomain = async (
  hosting: Pick<Hosting, 'addDomain' | 'removeDomain'>,
  { projectId, domain }: { readonly projectId: string; readonly domain: string },
  isWanted: () => Promise<boolean>,
): Promise<boolean> => {
  for (let wanted = await isWanted(); ;) {
    await (wanted ? hosting.addDomain(projectId, domain) : hosting.removeDomain(projectId, domain));
    const wantedNow = await isWanted();
    if (wantedNow === wanted) return wanted;
    wanted = wantedNow;
  }
};
