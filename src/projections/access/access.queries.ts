import type { Reader } from '../reader.js';
import { accessProjection } from './access.projection.js';
import { everyOne } from '../erasure/erasureTargets.queries.js';
import { websiteProjection, type WebsiteDocument } from '../website/website.projection.js';
import { websiteFold } from '../../events/website/website.state.js';
import { accessFold, linkRole } from '../../events/access/access.state.js';

/**
 * A client's way to a website as of now; `null` when there is none. An owner always behaves as an editor. It rests on the log alone: a
 * stored document may have been written by a build that passed over what it did not know.
 * @throws UnknownEvent, so that nobody is let in on half of the facts; faults of the event store
 */
export const websiteRoleOf = async (
  reader: Reader,
  { id }: Pick<WebsiteDocument, 'id'>,
  clientId: string,
): Promise<{ readonly via: 'owner' | 'link'; readonly role: 'viewer' | 'editor' } | null> => {
  const { state: website } = await reader.state(websiteFold, { websiteId: id });
  if (website.stage !== 'none' && website.clientId === clientId) return { via: 'owner', role: 'editor' };
  const { state } = await reader.state(accessFold, { websiteId: id });
  const role = linkRole(state, clientId);
  return role === undefined ? null : { via: 'link', role };
};

/** Every website that a client owns or is linked to, newest first, with the way to it; each checked as of now. Archived ones are left out. */
export const websitesOfClient = async (
  reader: Reader,
  clientId: string,
): Promise<readonly { website: WebsiteDocument; via: 'owner' | 'link'; role: 'viewer' | 'editor' }[]> => {
  const owned = await everyOne(reader, websiteProjection, { clientId });
  const linked = await everyOne(reader, accessProjection, { linkedClientIds: clientId });
  const ids = [...new Set([...owned.map(({ id }) => id), ...linked.map(({ websiteId }) => websiteId)])].sort().reverse();
  const found = await Promise.all(
    ids.map(async (id) => {
      const { document: website } = await reader.read(websiteProjection, id);
      if (website === null || website.shelf === 'archived') return [];
      const access = await websiteRoleOf(reader, website, clientId);
      return access === null ? [] : [{ website, ...access }];
    }),
  );
  return found.flat();
};
