import type { FindSiteMedia, SiteMediaVariant } from '../../events/content/content.files.js';
import type { FileStore } from '../../integrations/files/port.js';
import { ProviderFault } from '../../integrations/fault.js';
import { createKeyedLimit, type KeyedLimit } from '../../platform/keyedLimit.js';
import type { MediaDocument } from '../../projections/media/media.projection.js';
import { readMedia } from '../../projections/media/media.queries.js';
import type { Reader } from '../../projections/reader.js';

type Variant = MediaDocument['variants'][number];

/**
 * What sites show of images: their variants, never the file itself, whose metadata may tell where it
 * was taken. Of a video there is the file alone.
 */
export const createFindSiteMedia =
  (reader: Pick<Reader, 'read'>, files: Pick<FileStore, 'provider' | 'read'>): FindSiteMedia =>
  async (websiteId, mediaId) => {
    const found = await readMedia(reader, websiteId, mediaId);
    if (found === null) return null;
    const { id, kind, alt = '', width = 0, height = 0, variants, file, contentType, size } = found.document;
    const shown: readonly Variant[] = kind === 'video' ? [{ file, contentType, width, height, size }] : variants;
    // The one that every browser knows comes last in the store.
    const ordered = [...shown.slice(-1), ...shown.slice(0, -1)];
    return { id, alt, width, height, variants: ordered.map((variant) => toSite(variant, files)) };
  };

/**
 * Under which, by website, drafts and publications hold their files in memory (`maxPublishedBytes`): one of a website
 * at a time, and two in this process, so that memory suffices. Others wait, also for a slow source host.
 */
export const createSiteFilesLimit = (): KeyedLimit => createKeyedLimit(1, 2);

const toSite = ({ file, contentType, width, size }: Variant, files: Pick<FileStore, 'provider' | 'read'>): SiteMediaVariant => ({
  // The files of an image never change.
  name: `${String(width)}.${contentType.split('/')[1] ?? ''}`,
  width,
  type: contentType,
  bytes: size,
  content: async () => {
    const found = await files.read(file);
    if (found === null) throw new ProviderFault({ provider: files.provider, message: 'A picture is missing', transient: false });
    return Buffer.concat((await found.content.toArray()) as Buffer[]);
  },
});
