import { bytesOfDocuments, filesOfDocuments } from '../document/document.queries.js';
import type { Reader } from '../reader.js';

/** Bytes of everything that a website has in the file store, without what was deleted. */
export const storedBytes = (reader: Reader, websiteId: string): Promise<number> => bytesOfDocuments(reader, websiteId);

/** Which of the files, by their keys, anything refers to; deleted documents too until they are purged. */
export const filesInUse = async (reader: Reader, files: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(await filesOfDocuments(reader, files));
