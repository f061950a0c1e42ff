import type { Engine } from '../../engine.js';
import { apiKeyProjection, type APIKeyDocument } from './apiKey.projection.js';
import { readList } from '../runner/readList.js';

/** The keys of one subject that were not revoked, newest first. */
export const listApiKeys = async (
  engine: Engine,
  { subject, after, limit }: { subject: string; after?: string; limit: number },
): Promise<readonly APIKeyDocument[]> => {
  const sealed = await engine.personal.sealSubject(subject, { dryRun: true });
  const found = await readList(
    apiKeyProjection,
    { where: { subject: [subject, sealed] }, order: 'descending', ...(after !== undefined && { after }), limit },
    engine,
  );
  return found.map(({ body }) => body);
};
