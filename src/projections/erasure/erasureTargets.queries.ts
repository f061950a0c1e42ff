import type { Reader } from '../reader.js';
import { accessProjection } from '../access/access.projection.js';
import { apiKeyProjection, type APIKeyDocument } from '../apiKey/apiKey.projection.js';
import { clientSubjectProjection } from '../client/clientSubject.projection.js';
import { everyDocument } from '../everyDocument.js';
import { websiteProjection } from '../website/website.projection.js';

/**
 * Where a client is found beside their own stream, as the log holds it at the time of the call.
 * @param emails as the client's events hold them
 * @throws as `readList`
 */
export const erasureTargets = async (
  reader: Reader,
  clientId: string,
  emails: readonly string[],
): Promise<{ owned: string[]; accessible: string[]; apiKeys: APIKeyDocument[] }> => {
  const [owned, accessible, subjects] = await Promise.all([
    everyDocument(reader, websiteProjection, { clientId }),
    everyDocument(reader, accessProjection, { clientId }),
    everyDocument(reader, clientSubjectProjection, { clientId }),
  ]);
  const ofSubject = await everyDocument(reader, apiKeyProjection, {
    subject: [...emails, ...subjects.map(({ subject }) => subject)],
  });
  const ofAddress = await everyDocument(reader, apiKeyProjection, { verifiedEmail: emails });
  return {
    owned: owned.map(({ id }) => id),
    accessible: accessible.map(({ websiteId }) => websiteId),
    apiKeys: [...new Map([...ofSubject, ...ofAddress].map((key) => [key.id, key])).values()],
  };
};

/**
 * The tokens that were made with an address, which they vouch for.
 * @param email as events hold it
 * @throws as `readList`
 */
export const tokensOfAddress = (reader: Reader, email: string): Promise<APIKeyDocument[]> =>
  everyDocument(reader, apiKeyProjection, { verifiedEmail: email });
