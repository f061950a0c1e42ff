import type { Reader } from '../reader.js';
import type { DomainEvent, JsonObject } from '../../events/envelope.js';
import { accessProjection } from '../access/access.projection.js';
import { apiKeyProjection, type APIKeyDocument } from '../apiKey/apiKey.projection.js';
import { clientSubjectProjection } from '../client/clientSubject.projection.js';
import type { Projection } from '../projection.js';
import { websiteProjection } from '../website/website.projection.js';

/**
 * Where a client is found beside their own stream, as the log holds it at the time of the call.
 * @param email as the client's events hold it
 * @throws as `readList`
 */
export const erasureTargets = async (
  reader: Reader,
  clientId: string,
  email: string,
): Promise<{ owned: string[]; accessible: string[]; apiKeys: APIKeyDocument[] }> => {
  const [owned, linked, invited, subjects] = await Promise.all([
    everyOne(reader, websiteProjection, { clientId }),
    everyOne(reader, accessProjection, { linkedClientIds: clientId }),
    everyOne(reader, accessProjection, { invitedEmails: email }),
    everyOne(reader, clientSubjectProjection, { clientId }),
  ]);
  const ofSubject = await everyOne(reader, apiKeyProjection, { subject: [email, ...subjects.map(({ subject }) => subject)] });
  const ofAddress = await everyOne(reader, apiKeyProjection, { verifiedEmail: email });
  return {
    owned: owned.map(({ id }) => id),
    accessible: [...new Set([...linked, ...invited].map(({ websiteId }) => websiteId))],
    apiKeys: [...new Map([...ofSubject, ...ofAddress].map((key) => [key.id, key])).values()],
  };
};

const pageSize = 200;

/** Every document that matches, newest first. */
export const everyOne = async <Document extends JsonObject, Event extends DomainEvent>(
  reader: Reader,
  projection: Projection<Document, Event>,
  where: Readonly<Record<string, string | readonly string[]>>,
): Promise<Document[]> => {
  const found: Document[] = [];
  for (let after: string | undefined; ;) {
    const query = { where, order: 'descending', limit: pageSize, ...(after !== undefined && { after }) } as const;
    const page = await reader.list(projection, query);
    found.push(...page.map(({ body }) => body));
    if (page.length < pageSize) return found;
    after = page.at(-1)?.id;
  }
};
