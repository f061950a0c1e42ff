import { LRUCache } from 'lru-cache';
import { slugFold } from '../../events/website/website.state.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import type { Reader } from '../reader.js';
import { websiteProjection } from './website.projection.js';

type AtAddress =
  | { readonly kind: 'site'; readonly project: string }
  | { readonly kind: 'archived' }
  | { readonly kind: 'moved'; readonly to: string }
  | null;

const maxKnown = 10_000;

/**
 * Finds what is at the address with a name, as of now. While the event store does not answer, visitors
 * get what was there when it was last asked for.
 * @param provider the hosting provider that asks: websites hosted elsewhere are not there
 */
export const createSiteDirectory = (reader: Pick<Reader, 'read' | 'state'>, provider: string, clock: Clock) => {
  const known = new LRUCache<string, { readonly found: AtAddress }>({ max: maxKnown });

  const find = async (slug: string): Promise<AtAddress> => {
    const { state } = await reader.state(slugFold, { slug });
    if (state.stage === 'free' || (state.stage === 'released' && state.until <= isoTime(clock.now()))) return null;
    const { document: website } = await reader.read(websiteProjection, state.websiteId);
    if (website === null || (website.hosting ?? { provider }).provider !== provider) return null;
    if (website.archivedAt !== undefined) return { kind: 'archived' };
    if (website.slug === slug) return { kind: 'site', project: website.hosting?.projectId ?? website.built.slug };
    return website.formerSlugs?.includes(slug) === true ? { kind: 'moved', to: website.slug } : null;
  };

  return async (name: string): Promise<AtAddress> => {
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
