import { findLiveKey } from '../../../events/apiKey/apiKey.directory.js';
import { keyOfId } from '../../../events/apiKey/apiKey.stream.js';
import type { PreviewAuthor } from '../../../integrations/hosting/port.js';
import { isoTime, type Clock } from '../../../platform/clock.js';
import type { Reader } from '../../../projections/reader.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import { standingAt } from '../../auth/authorise.js';
import { refusalFor } from '../../auth/rules.js';
import { ofContent } from './collections.js';

/** Who may have a draft of a website built. */
export const previewRule = { tag: ofContent.tag, scope: 'website', access: 'editors', feature: 'content' } as const;

/**
 * Whether the person who had a draft of a website built might have it built now. Without access they
 * could otherwise go on showing it to others, by an address that nobody can guess.
 * @throws as `ValidatedRead`: what cannot be asked is not shown
 */
export const createMayPreview =
  (reader: Reader, clock: Clock) =>
  async ({ websiteId, clientId, tokenId }: PreviewAuthor): Promise<boolean> => {
    const { document: website } = await reader.read(websiteProjection, websiteId);
    if (website === null) return false;
    if (tokenId !== undefined && (await findLiveKey(reader, keyOfId(tokenId), isoTime(clock.now()))) === null) return false;
    const caller = clientId === undefined ? ({ role: 'admin' } as const) : ({ role: 'client', clientId } as const);
    return refusalFor(previewRule, await standingAt(reader, caller, website), website) === null;
  };
