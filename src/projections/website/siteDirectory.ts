import { slugFold } from '../../events/website/website.state.js';
import { createCache } from '../../platform/cache.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import { domainProjection } from '../domain/domain.projection.js';
import type { Reader } from '../reader.js';
import { projectOf } from '../provisioning/provisioning.queries.js';
import { websiteProjection, type WebsiteDocument } from './website.projection.js';

type AtAddress =
  | { readonly kind: 'site'; readonly project: string }
  | { readonly kind: 'archived' }
  | { readonly kind: 'moved'; readonly to: string }
  | null;

type AtDomain =
  | { readonly kind: 'site'; readonly project: string; readonly slug: string }
  | { readonly kind: 'archived' }
  | { readonly kind: 'nothing' }
  | null;

const maxKnown = 10_000;

/**
 * Finds what is at the address with a name, as of now. While the event store does not answer, visitors
 * get what was there when it was last asked for.
 * @param provider the hosting provider that asks: websites hosted elsewhere are not there
 */
export const createSiteDirectory = (
  reader: Pick<Reader, 'read' | 'state'>,
  provider: string,
  clock: Clock,
): ((name: string) => Promise<AtAddress>) => {
  const find = async (slug: string): Promise<AtAddress> => {
    const { state } = await reader.state(slugFold, { slug });
    if (state.stage === 'free' || (state.stage === 'released' && state.until <= isoTime(clock.now()))) return null;
    const { document: website } = await reader.read(websiteProjection, state.websiteId);
    if (website === null || (website.hosting ?? { provider }).provider !== provider) return null;
    if (website.archivedAt !== undefined) return { kind: 'archived' };
    if (website.slug !== slug) return website.formerSlugs?.includes(slug) === true ? { kind: 'moved', to: website.slug } : null;
    const project = await projectAt(provider, reader, website);
    return project === undefined ? null : { kind: 'site', project };
  };

  return orLastKnown(find);
};

/**
 * Finds what is at a hostname of a website's own, as of now, under the same terms.
 * @param provider the hosting provider that asks
 */
export const createDomainDirectory = (
  reader: Pick<Reader, 'read'>,
  provider: string,
): ((hostname: string) => Promise<AtDomain>) =>
  orLastKnown(async (hostname: string): Promise<AtDomain> => {
    const { document: domain } = await reader.read(domainProjection, hostname);
    if (domain?.status !== 'verified') return null;
    const { document: website } = await reader.read(websiteProjection, domain.websiteId);
    if (website === null || (website.hosting ?? { provider }).provider !== provider) return { kind: 'nothing' };
    if (website.archivedAt !== undefined) return { kind: 'archived' };
    const project = await projectAt(provider, reader, website);
    return project === undefined ? { kind: 'nothing' } : { kind: 'site', project, slug: website.slug };
  });

/**
 * The project of a website at the provider; `undefined` while there is none. Never one by the name that
 * its own would have: that may be another website's.
 */
const projectAt = async (
  provider: string,
  reader: Pick<Reader, 'read'>,
  website: WebsiteDocument,
): Promise<string | undefined> => {
  const project = await projectOf(reader, website);
  return project?.provider === provider ? project.projectId : undefined;
};

/** While the event store does not answer, what was found last. */
const orLastKnown = <Found>(find: (name: string) => Promise<Found>): ((name: string) => Promise<Found>) => {
  const known = createCache<{ readonly found: Found }>(maxKnown);
  return async (name) => {
    try {
      const found = await find(name);
      known.set(name, { found });
      return found;
    } catch (error) {
      const last = known.get(name);
      if (last === undefined) throw error;
      return last.found;
    }
  };
};
