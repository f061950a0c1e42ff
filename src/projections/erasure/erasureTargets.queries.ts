import type { Engine } from '../../engine.js';
import type { DomainEvent, JsonObject } from '../../events/envelope.js';
import { accessProjection } from '../access/access.projection.js';
import { apiKeyProjection, type APIKeyDocument } from '../apiKey/apiKey.projection.js';
import { clientSubjectProjection } from '../client/clientSubject.projection.js';
import type { Projection } from '../projection.js';
import { readList } from '../runner/readList.js';
import { websiteProjection } from '../website/website.projection.js';

/** Where a client is found beside their own stream: all that an erasure has to look after. */
export interface Traces {
  /** Websites that they own. */
  readonly owned: readonly string[];
  /** Websites that they are linked to, or that their address is invited to. */
  readonly accessible: readonly string[];
  readonly apiKeys: readonly APIKeyDocument[];
}

/**
 * The traces that the log holds at the time of the call.
 * @param email as the client's events hold it
 * @throws as `readList`
 */
export const tracesOf = async (engine: Engine, clientId: string, email: string): Promise<Traces> => {
  const [owned, linked, invited, subjects] = await Promise.all([
    everyOne(engine, websiteProjection, { clientId }),
    everyOne(engine, accessProjection, { linkedClientIds: clientId }),
    everyOne(engine, accessProjection, { invitedEmails: email }),
    everyOne(engine, clientSubjectProjection, { clientId }),
  ]);
  const ofSubject = await everyOne(engine, apiKeyProjection, { subject: [email, ...subjects.map(({ subject }) => subject)] });
  const ofAddress = await everyOne(engine, apiKeyProjection, { verifiedEmail: email });
  return {
    owned: owned.map(({ id }) => id),
    accessible: [...new Set([...linked, ...invited].map(({ websiteId }) => websiteId))],
    apiKeys: [...new Map([...ofSubject, ...ofAddress].map((key) => [key.id, key])).values()],
  };
};

const pageSize = 200;

/** Every document that matches, newest first. */
export const everyOne = async <Document extends JsonObject, Event extends DomainEvent>(
  engine: Engine,
  projection: Projection<Document, Event>,
  where: Readonly<Record<string, string | readonly string[]>>,
): Promise<Document[]> => {
  const found: Document[] = [];
  for (let after: string | undefined; ;) {
    const query = { where, order: 'descending', limit: pageSize, ...(after !== undefined && { after }) } as const;
    const page = await readList(projection, query, engine);
    found.push(...page.map(({ body }) => body));
    if (page.length < pageSize) return found;
    after = page.at(-1)?.id;
  }
};
