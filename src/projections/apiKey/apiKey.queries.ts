import type { Reader } from '../reader.js';
import { apiKeyProjection, type APIKeyDocument } from './apiKey.projection.js';

/**
 * The keys of one subject that are not revoked, newest first.
 * @param role only keys of this role; absent: of either
 */
export const listApiKeys = async (
  reader: Reader,
  { subject, role, after, limit }: { subject: string; role?: 'client'; after?: string; limit: number },
): Promise<readonly APIKeyDocument[]> => {
  const encrypted = await reader.personal.encryptSubject(subject, { makeKey: false });
  const found = await reader.list(apiKeyProjection, {
    where: { subject: [subject, encrypted], ...(role !== undefined && { role }) },
    order: 'descending',
    ...(after !== undefined && { after }),
    limit,
  });
  return found.map(({ body }) => body);
};
