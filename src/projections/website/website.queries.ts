import type { Reader } from '../reader.js';
import { websiteProjection, type WebsiteDocument } from './website.projection.js';

/**
 * Websites, newest first: the archived ones with `archived`, otherwise the others. `q` matches a
 * part of name or slug.
 */
export const listWebsites = async (
  reader: Reader,
  query: { status?: string; clientId?: string; q?: string; archived?: boolean; after?: string; limit: number },
): Promise<readonly WebsiteDocument[]> => {
  const { status, clientId, q, archived, after, limit } = query;
  const found = await reader.list(websiteProjection, {
    where: {
      shelf: archived === true ? 'archived' : 'current',
      ...(status !== undefined && { status }),
      ...(clientId !== undefined && { clientId }),
    },
    ...(q !== undefined && q !== '' && { search: { fields: ['name', 'slug'], text: q } }),
    order: 'descending',
    ...(after !== undefined && { after }),
    limit,
  });
  return found.map(({ body }) => body);
};
