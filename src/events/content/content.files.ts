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

const sourceOf = (mediaId: string, { name }: SiteMediaVariant): string => `media/${mediaId}/${name}`;

/**
 * The files that documents are in a repository: one of each document, in which each picture says
 * where its files are, and these. A picture that is gone says nothing, so that pages leave it out.
 * @param declared the ids of the documents that the template declares
 */
export const contentFiles = async (
  documents: readonly { readonly id: string; readonly body: unknown }[],
  declared: readonly string[],
  findMedia: (mediaId: string) => Promise<SiteMedia | null>,
): Promise<ReadonlyMap<string, Uint8Array>> => {
  const files = new Map<string, Uint8Array>();
  const found = new Map<string, SiteMedia | null>();
  for (const { mediaId } of documents.flatMap(({ body }) => picturesIn(body))) {
    if (!found.has(mediaId)) found.set(mediaId, await findMedia(mediaId));
  }
  for (const [mediaId, media] of found) {
    for (const variant of media?.variants ?? []) files.set(sourceOf(mediaId, variant), await variant.content());
  }
  for (const { id, body } of documents) {
    const path = declared.includes(id) ? dataFile(id) : freeFile(id);
    files.set(path, Buffer.from(`${JSON.stringify(withSources(body, found), null, 2)}\n`));
  }
  return files;
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
