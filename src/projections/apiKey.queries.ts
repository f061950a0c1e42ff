import type { Engine } from '../engine.js';
import { apiKeyProjection, type APIKeyDocument } from './apiKey.projection.js';
import { readList } from './runner/readList.js';

/** The keys of one subject that were not revoked, newest first. */
export const listApiKeys = async (
  engine: Engine,
  { subject, after, limit }: { subject: string; after?: string; limit: number },
): Promise<readonly APIKeyDocument[]> => {
  const found = await readList(
    apiKeyProjection,
    { where: { subject }, order: 'descending', ...(after !== undefined && { after }), limit },
    engine,
  );
  return found.map(({ body }) => body);
};
