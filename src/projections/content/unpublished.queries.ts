import { ContentTooLarge, maxPublishedBytes, picturesIn, type FindSiteMedia } from '../../events/content/content.files.js';
import type { Reader } from '../reader.js';
import type { ContentDocument } from './content.projection.js';
import { savedContent } from './content.queries.js';

/** What a commit of a website's repository lacks of its content, and what it has that is no longer part of it. */
export interface Unpublished {
  /** By id: saved since they were published last, or with a picture that is gone, or back, since then. */
  readonly documents: readonly (Pick<ContentDocument, 'id' | 'hash' | 'json'> & { readonly revision: bigint })[];
  /** The pictures whose files the commit has. Those of one picture never change. */
  readonly present: ReadonlySet<string>;
  /** Of these, those that no document shows. */
  readonly unused: readonly string[];
}

/** How the ids of pictures look: other folders there are somebody else's. */
const mediaId = /^[0-9a-hjkmnp-tv-z]{26}$/;

/**
 * @param names of what the commit has in `mediaFolder`
 * @throws ContentTooLarge
 */
export const unpublishedContent = async (
  { reader, findMedia }: { readonly reader: Reader; readonly findMedia: FindSiteMedia },
  websiteId: string,
  names: readonly string[],
): Promise<Unpublished> => {
  const present = new Set(names.filter((name) => mediaId.test(name)));
  /** Whether there is such a picture, of each that a document names. */
  const named = new Map<string, boolean>();
  const documents: Unpublished['documents'][number][] = [];
  let bytes = 0;
  for await (const { id, hash, json, publishedHash, revision } of savedContent(reader, websiteId)) {
    const pictures = new Set(picturesIn(JSON.parse(json)).map(({ mediaId: picture }) => picture));
    const unknown = [...pictures].filter((picture) => !named.has(picture));
    const found = await Promise.all(unknown.map((picture) => findMedia(websiteId, picture)));
    for (const [index, picture] of unknown.entries()) named.set(picture, found[index] !== null);
    const isShown = [...pictures].every((picture) => named.get(picture) === present.has(picture));
    if (hash === publishedHash && isShown) continue;
    // Earlier versions of this service let a collection have more than can be published at once.
    bytes += Buffer.byteLength(json);
    if (bytes > maxPublishedBytes) throw new ContentTooLarge();
    documents.push({ id, hash, json, revision });
  }
  return { documents, present, unused: [...present].filter((picture) => named.get(picture) !== true) };
};
