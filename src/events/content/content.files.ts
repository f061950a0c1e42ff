/** How a site shows a picture or a film of its website. */
export interface SiteMedia {
  readonly id: string;
  /** What it shows, for people who do not see it; a document may say otherwise. */
  readonly alt: string;
  readonly width: number;
  readonly height: number;
  /** The forms that a browser may choose from, the one for browsers that do not choose first. */
  readonly variants: readonly SiteMediaVariant[];
}

export interface SiteMediaVariant {
  /** Of the file, within the folder of the picture: unique, and another for another content. */
  readonly name: string;
  readonly width: number;
  /** As in `image/webp`. */
  readonly type: string;
  readonly bytes: number;
  readonly content: () => Promise<Uint8Array>;
}

/** `null`: the website has none of that id. */
export type FindSiteMedia = (websiteId: string, mediaId: string) => Promise<SiteMedia | null>;

/** Where a declared document stands in a repository: what the pages of the site are made with. */
export const dataFile = (documentId: string): string => `_data/${documentId}.json`;

/** Where any other document stands: pages may use it as `content.<id>`, and none does by itself. */
const freeFile = (documentId: string): string => `_content/${documentId}.json`;

type Json = Readonly<Record<string, unknown>>;

const isPicture = (value: Json): value is Json & { readonly mediaId: string } =>
  Object.hasOwn(value, 'mediaId') && typeof value['mediaId'] === 'string';

/**
 * Every `{"mediaId": "…"}` in a document: the id, and which field it is (`hero.picture.mediaId`), of which a
 * long one is cut off.
 */
export const picturesIn = (value: unknown, field = ''): readonly { readonly mediaId: string; readonly field: string }[] => {
  if (typeof value !== 'object' || value === null) return [];
  const own = isPicture(value as Json)
    ? [{ mediaId: (value as { mediaId: string }).mediaId, field: join(field, 'mediaId') }]
    : [];
  return [...own, ...Object.entries(value).flatMap(([name, part]) => picturesIn(part, join(field, name)))];
};

/** How much is told of which field something is, in characters. */
export const maxFieldLength = 200;

/** A name may be as long as the document, and be that of thousands of fields: it is cut before it is copied. */
const join = (field: string, name: string): string => {
  const short = name.slice(0, maxFieldLength);
  return field === '' ? short : `${field}.${short}`.slice(0, maxFieldLength);
};

/** Where the files of pictures stand in a repository, each in a folder of its own. */
export const mediaFolder = 'media';

const sourceOf = (mediaId: string, { name }: SiteMediaVariant): string => `${mediaFolder}/${mediaId}/${name}`;

/** Of the files of one publication or preview together, which are in memory at once; few of them are at a time. */
export const maxPublishedBytes = 128_000_000;
/** Of a file of a site: a build refuses larger ones, also after they are no longer shown. */
export const maxSiteFileBytes = 50 * 1024 * 1024;
/** Of the file of a document. A picture that it names thousands of times is described as often. */
const maxFileBytes = 8_000_000;
/** Lines and indents take no more than this many times the characters of the document itself. */
const maxIndentation = 4;

/** Content that is too large to be published. The message is shown to people. */
export class ContentTooLarge extends Error {
  override readonly name = 'ContentTooLarge';

  constructor(
    what = 'The content is too large: at most 8 MB a document, and 128 MB of documents and new pictures, can be published',
  ) {
    super(what);
  }
}

/**
 * The files that documents are in a repository: one of each document, in which each picture says
 * where its files are, and these. A picture that is gone says nothing, so that pages leave it out.
 * @param documents `json`: the body
 * @param declared the ids of the documents that the template declares
 * @param present the pictures whose files the repository has
 * @throws ContentTooLarge
 */
export const contentFiles = async (
  documents: readonly { readonly id: string; readonly json: string }[],
  declared: readonly string[],
  findMedia: (mediaId: string) => Promise<SiteMedia | null>,
  present: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Uint8Array>> => {
  const files = new Map<string, Uint8Array>();
  const found = new Map<string, SiteMedia | null>();
  let left = maxPublishedBytes;
  const take = (bytes: number): void => {
    left -= bytes;
    if (left < 0) throw new ContentTooLarge();
  };
  const addPictures = async (body: unknown): Promise<void> => {
    for (const { mediaId } of picturesIn(body)) {
      if (found.has(mediaId)) continue;
      const media = await findMedia(mediaId);
      found.set(mediaId, media);
      if (media === null || present.has(mediaId)) continue;
      for (const variant of media.variants) {
        if (variant.bytes > maxSiteFileBytes) throw new ContentTooLarge(tooLargeForSite(mediaId));
        take(variant.bytes);
        files.set(sourceOf(mediaId, variant), await variant.content());
      }
    }
  };
  for (const { id, json } of documents) {
    const body = JSON.parse(json) as unknown;
    await addPictures(body);
    const content = fileOf(withSources(body, found));
    take(content.length);
    files.set(declared.includes(id) ? dataFile(id) : freeFile(id), content);
  }
  return files;
};

const tooLargeForSite = (mediaId: string): string =>
  `${mediaId} is too large: an image or video of at most 50 MiB can be published`;

/** In lines, for people; but lists within lists take up to 64 times as much like that. */
const fileOf = (value: unknown): Uint8Array => {
  const compact = Buffer.from(`${JSON.stringify(value)}\n`);
  if (compact.length > maxFileBytes) throw new ContentTooLarge();
  const indented = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  return indented.length > Math.min(maxFileBytes, maxIndentation * compact.length) ? compact : indented;
};

const withSources = (value: unknown, found: ReadonlyMap<string, SiteMedia | null>): unknown => {
  if (Array.isArray(value)) return value.map((part) => withSources(part, found));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withSources(part, found)]));
  const media = isPicture(value as Json) ? found.get((value as { mediaId: string }).mediaId) : undefined;
  const [first] = media?.variants ?? [];
  if (media === undefined || media === null || first === undefined) return parts;
  const { id, alt, width, height, variants } = media;
  return {
    alt,
    ...parts,
    src: sourceOf(id, first),
    width,
    height,
    variants: variants.map((variant) => ({ src: sourceOf(id, variant), width: variant.width, type: variant.type })),
  };
};
