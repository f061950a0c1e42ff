import { bytesOfDocuments, filesOfDocuments } from '../document/document.queries.js';
import { bytesOfMedia, filesOfMedia } from '../media/media.queries.js';
import type { Reader } from '../reader.js';

/** Bytes of everything that a website has in the file store: live, or deleted and kept until it is purged. */
export const storedBytes = async (reader: Reader, websiteId: string, stage: 'live' | 'deleted'): Promise<number> => {
  const [documents, media] = await Promise.all([
    bytesOfDocuments(reader, websiteId, stage),
    bytesOfMedia(reader, websiteId, stage),
  ]);
  return documents + media;
};

/** Which of the files, by their keys, anything refers to; what was deleted too until it is purged. */
export const filesInUse = async (reader: Reader, files: readonly string[]): Promise<ReadonlySet<string>> => {
  const used = await Promise.all([filesOfDocuments(reader, files), filesOfMedia(reader, files)]);
  return new Set(used.flat());
};
