import { everyDocument } from '../everyDocument.js';
import { toQuery, type PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import { sortKeyIn } from '../store/documents.js';
import { documentProjection, type DocumentDocument } from './document.projection.js';

/** Fields that documents can be sorted by. */
export const documentSorts = ['name', 'size', 'createdAt'] as const;

const storedField = (field: string): string => (field === 'size' ? 'sizeOrder' : field);

/** By what a document stands where it does in a list that is sorted by the field. */
export const documentSortKey = (document: DocumentDocument, field: string): string => sortKeyIn(document, storedField(field));

const liveOf = (websiteId: string) => ({ where: { websiteId, stage: 'live' } });

/** Documents of a website, newest first or sorted by one of `documentSorts`. */
export const listDocuments = async (
  reader: Reader,
  websiteId: string,
  { sort, ...page }: PageRequest,
): Promise<readonly DocumentDocument[]> => {
  const sorted = sort === undefined ? {} : { sort: { ...sort, by: storedField(sort.by) } };
  const found = await reader.list(documentProjection, { ...liveOf(websiteId), ...toQuery({ ...page, ...sorted }) });
  return found.map(({ body }) => body);
};

/** How many documents the list is of. */
export const countDocuments = (reader: Reader, websiteId: string): Promise<number> =>
  reader.count(documentProjection, liveOf(websiteId));

/** A document that is not deleted; `null` when the website has none of this id. */
export const readDocument = async (
  reader: Reader,
  websiteId: string,
  documentId: string,
  through?: bigint,
): Promise<{ readonly document: DocumentDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await reader.read(documentProjection, documentId, through);
  return document?.stage === 'live' && document.websiteId === websiteId ? { document, revision } : null;
};

/** Bytes of the documents of a website: live ones, or deleted ones that can be restored. */
export const bytesOfDocuments = async (reader: Reader, websiteId: string, stage: 'live' | 'deleted'): Promise<number> => {
  const documents = await everyDocument(reader, documentProjection, { websiteId, stage });
  return documents.reduce((sum, { size }) => sum + size, 0);
};

/** Documents that were deleted before `before` (ISO 8601 UTC). */
export const documentsDeletedBefore = async (reader: Reader, before: string): Promise<readonly DocumentDocument[]> =>
  (await everyDocument(reader, documentProjection, { stage: 'deleted' })).filter(({ deletedAt = '' }) => deletedAt < before);

/** Every document of a website, deleted ones too. */
export const everyDocumentOf = (reader: Reader, websiteId: string): Promise<readonly DocumentDocument[]> =>
  everyDocument(reader, documentProjection, { websiteId });

/** Which of the files, by their keys, are documents'. */
export const filesOfDocuments = async (reader: Reader, files: readonly string[]): Promise<readonly string[]> =>
  (await everyDocument(reader, documentProjection, { file: files })).map(({ file }) => file);
