import { useQuery } from '@tanstack/react-query';
import { viewedAs } from '../../session/viewAs.js';
import { useMe } from '../me/queries.js';
import { websiteQuery } from './queries.js';

/** Why somebody may read and not change: by their role, or because the website is archived, or as they look as somebody else. */
export type ReadOnlyReason = 'viewer' | 'archived' | 'viewing';

/**
 * Whether the reader may be offered what admins, the owner and editors change, and if not, why.
 * `waiting`: it is not known yet. The service decides.
 */
export const useMayEdit = (websiteId: string): 'yes' | 'waiting' | ReadOnlyReason => {
  const { role } = useMe();
  const website = useQuery(websiteQuery(websiteId)).data;
  if (viewedAs !== null) return 'viewing';
  if (website === undefined) return 'waiting';
  if (website.archivedAt !== undefined) return 'archived';
  if (role === 'admin' || website.via === 'owner' || website.role === 'editor') return 'yes';
  return 'viewer';
};
