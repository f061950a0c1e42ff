import { findLiveKey } from '../../events/apiKey/apiKey.directory.js';
import { keyOfId } from '../../events/apiKey/apiKey.stream.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import { websiteRoleOf } from '../access/access.queries.js';
import type { Reader } from '../reader.js';
import { websiteProjection } from '../website/website.projection.js';

/**
 * Whether the person who had a draft of a website built might have it built now. Without access they
 * could otherwise go on showing it to others, by an address that nobody can guess.
 * @throws as `ValidatedRead`: what cannot be asked is not shown
 */
export const createMayPreview =
  (reader: Reader, clock: Clock) =>
  async (by: { readonly websiteId: string; readonly clientId?: string; readonly tokenId?: string }): Promise<boolean> => {
    const { websiteId, clientId, tokenId } = by;
    const { document: website } = await reader.read(websiteProjection, websiteId);
    if (website?.features.includes('content') !== true) return false;
    if (tokenId !== undefined && (await findLiveKey(reader, keyOfId(tokenId), isoTime(clock.now()))) === null) return false;
    return clientId === undefined || (await websiteRoleOf(reader, website, clientId))?.role === 'editor';
  };
