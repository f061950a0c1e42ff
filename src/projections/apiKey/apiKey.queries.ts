import type { Reader } from '../reader.js';
import { apiKeyProjection, type APIKeyDocument } from './apiKey.projection.js';

/** The keys of one subject that are not revoked, newest first. */
export const listApiKeys = async (
  reader: Reader,
  { subject, after, limit }: { subject: string; after?: string; limit: number },
): Promise<readonly APIKeyDocument[]> => {
  const encrypted = await reader.personal.encryptSubject(subject, { makeKey: false });
  const found = await reader.list(apiKeyProjection, {
    where: { subject: [subject, encrypted] },
    order: 'descending',
    ...(after !== undefined && { after }),
    limit,
  });
  return found.map(({ body }) => body);
};
