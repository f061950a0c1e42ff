import type { Reader } from '../reader.js';
import { domainProjection, type DomainDocument } from './domain.projection.js';

/** More than a website may have; two that are added at the same moment may exceed that. */
const maxRead = 200;

/** The domains of a website, the newest first. */
export const domainsOf = async (reader: Pick<Reader, 'list'>, websiteId: string): Promise<readonly DomainDocument[]> => {
  const found = await reader.list(domainProjection, { where: { websiteId }, order: 'ascending', limit: maxRead });
  return found.map(({ body }) => body).sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
};

/** The domain as of now, or of the revision `through` of its stream, when that website has it. */
export const domainOf = async (
  reader: Pick<Reader, 'read'>,
  { websiteId, domain }: { readonly websiteId: string; readonly domain: string },
  through?: bigint,
): Promise<{ readonly document: DomainDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await reader.read(domainProjection, domain, through);
  return document?.websiteId === websiteId ? { document, revision } : null;
};

/** Whether the domain is a website's, and that is proved. */
export const isVerifiedDomain = async (reader: Pick<Reader, 'read'>, domain: string): Promise<boolean> =>
  (await reader.read(domainProjection, domain)).document?.status === 'verified';
