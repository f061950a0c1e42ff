import { everyDocument } from '../everyDocument.js';
import { toQuery, type PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import { sortKeyIn } from '../store/documents.js';
import { mediaProjection, type MediaDocument } from './media.projection.js';

/** Fields that images and videos can be sorted by. */
export const mediaSorts = ['name', 'createdAt'] as const;

/** By what it stands where it does in a list that is sorted by the field. */
export const mediaSortKey = (document: MediaDocument, field: string): string => sortKeyIn(document, field);

export interface MediaFilter {
  readonly kind?: 'image' | 'video';
}

const liveOf = (websiteId: string, { kind }: MediaFilter) => ({
  where: { websiteId, stage: 'live', ...(kind !== undefined && { kind }) },
});

/** Images and videos of a website, newest first or sorted by one of `mediaSorts`. */
export const listMedia = async (
  reader: Reader,
  websiteId: string,
  { sort, kind, ...page }: PageRequest & MediaFilter,
): Promise<readonly MediaDocument[]> => {
  const found = await reader.list(mediaProjection, {
    ...liveOf(websiteId, { ...(kind !== undefined && { kind }) }),
    ...toQuery({ ...page, ...(sort !== undefined && { sort }) }),
  });
  return found.map(({ body }) => body);
};

/** How many the list is of. */
export const countMedia = (reader: Reader, websiteId: string, filter: MediaFilter): Promise<number> =>
  reader.count(mediaProjection, liveOf(websiteId, filter));

/** One that is not deleted; `null` when the website has none of this id. */
export const readMedia = async (
  reader: Pick<Reader, 'read'>,
  websiteId: string,
  mediaId: string,
  through?: bigint,
): Promise<{ readonly document: MediaDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await reader.read(mediaProjection, mediaId, through);
  return document?.stage === 'live' && document.websiteId === websiteId ? { document, revision } : null;
};

/** Bytes of the images and videos of a website with their variants: live ones, or deleted ones that can be restored. */
export const bytesOfMedia = async (reader: Reader, websiteId: string, stage: 'live' | 'deleted'): Promise<number> => {
  const media = await everyDocument(reader, mediaProjection, { websiteId, stage });
  return media.reduce((sum, { storedSize }) => sum + storedSize, 0);
};

/** How many images and videos a website has, with deleted ones that can be restored. */
export const countKeptMedia = (reader: Reader, websiteId: string): Promise<number> =>
  reader.count(mediaProjection, { where: { websiteId } });

/** Those that were deleted before `before` (ISO 8601 UTC). */
export const mediaDeletedBefore = async (reader: Reader, before: string): Promise<readonly MediaDocument[]> =>
  (await everyDocument(reader, mediaProjection, { stage: 'deleted' })).filter(({ deletedAt = '' }) => deletedAt < before);

/** Every image and video of a website, deleted ones too. */
export const everyMediaOf = (reader: Reader, websiteId: string): Promise<readonly MediaDocument[]> =>
  everyDocument(reader, mediaProjection, { websiteId });

/** Which of the files, by their keys, are an image's or a video's, or a variant's. */
export const filesOfMedia = async (reader: Reader, files: readonly string[]): Promise<readonly string[]> =>
  (await everyDocument(reader, mediaProjection, { files })).flatMap((document) => document.files);
