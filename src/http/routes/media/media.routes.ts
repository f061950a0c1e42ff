import { Type } from 'typebox';
import { mediaDecider } from '../../../commands/media/media.decider.js';
import { uploadMedia } from '../../../commands/media/media.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { FileStore } from '../../../integrations/files/port.js';
import {
  mediaKindOf,
  UnreadableMedia,
  type MediaKind,
  type MediaProcessor,
  type MediaVariant,
} from '../../../integrations/media/port.js';
import type { MediaDocument } from '../../../projections/media/media.projection.js';
import {
  countKeptMedia,
  countMedia,
  listMedia,
  mediaSortKey,
  mediaSorts,
  readMedia,
} from '../../../projections/media/media.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { FileAddresses } from '../../fileAddress.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import { noContent, route, type Answer, type Route, type RouteTag, type Upload } from '../../route.js';
import { NonBlank } from '../../schemas.js';
import type { StorageLimit } from '../../storageLimit.js';
import { cleaned, FileAddress, FileName } from '../document/document.resource.js';
import { Media, toMedia } from './media.resource.js';

const mediaTag: RouteTag = { name: 'Media', description: 'Images and videos that the content of a website shows.' };

const altExample = 'The shop with its red door';

export interface MediaRouteParts {
  readonly reader: Reader;
  readonly files: FileStore;
  readonly mediaProcessor: MediaProcessor;
  readonly storageLimit: StorageLimit;
  readonly fileAddresses: FileAddresses;
}

interface Shape {
  readonly width?: number;
  readonly height?: number;
  readonly durationMs?: number;
  readonly variants: readonly MediaVariant[];
}

/** @throws Refused when it is neither an image nor a video that is taken */
const kindOf = ({ contentType }: Upload): MediaKind => {
  const kind = mediaKindOf(contentType);
  if (kind !== null) return kind;
  const words = 'must be an image (JPEG, PNG, GIF, WebP, AVIF) or a video (MP4, WebM)';
  throw new Refused(refusals.invalidBody('file', `${words}; its content is ${contentType}`));
};

export const mediaRoutes = (parts: MediaRouteParts): readonly Route[] => {
  const { reader, files, mediaProcessor, storageLimit, fileAddresses } = parts;

  const find = async (
    websiteId: string,
    mediaId: string,
    through?: bigint,
  ): Promise<{ readonly document: MediaDocument; readonly revision: bigint }> => {
    const found = await readMedia(reader, websiteId, mediaId, through);
    if (found === null) throw new Refused(refusals.mediaNotFound(mediaId));
    return found;
  };

  const answerAsOf = async (websiteId: string, mediaId: string, through?: bigint): Promise<Answer> => {
    const { document, revision } = await find(websiteId, mediaId, through);
    return { body: toMedia(document), revision };
  };

  /** @throws Refused when it cannot be read */
  const shapeOf = async (kind: MediaKind, { key, contentType, bytes }: Upload): Promise<Shape> => {
    // A dry run stores no file to look into.
    if (key === '') return { variants: [] };
    const file = { key, contentType, bytes };
    try {
      return kind === 'image'
        ? await mediaProcessor.processPicture(file)
        : { ...(await mediaProcessor.readVideo(file)), variants: [] };
    } catch (error) {
      if (error instanceof UnreadableMedia) throw new Refused(refusals.invalidBody('file', error.message));
      throw error;
    }
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/media',
      operationId: 'listMedia',
      summary: 'List the images and videos of a website, newest first, or read some by their ids',
      description: 'Without the deleted ones. Sorted by `name`, case and diacritics do not count.',
      tag: mediaTag,
      scope: 'website',
      access: 'members',
      feature: 'content',
      paging: { sort: mediaSorts, count: true, ids: true },
      query: Type.Object({
        kind: Type.Optional(Type.Enum(['image', 'video'], { description: 'Only these. Default: both.' })),
      }),
      answers: { 200: { description: 'A page of images and videos.', schema: Type.Array(Media) } },
      answer: async ({ params: { id: websiteId }, query }) => {
        const named = await readNamed(query, async (id) => (await readMedia(reader, websiteId, id))?.document ?? null);
        if (named !== null) return { body: named.map(toMedia), total: await totalOf(query, () => named.length) };
        const filter = query.kind === undefined ? {} : { kind: query.kind };
        const { items, next } = await readPage(
          query,
          ({ id }: MediaDocument) => id,
          (page) => listMedia(reader, websiteId, { ...page, ...filter }),
          mediaSortKey,
        );
        const total = await totalOf(query, () => countMedia(reader, websiteId, filter));
        return { body: items.map(toMedia), next, total };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/media',
      operationId: 'uploadMedia',
      summary: 'Upload an image or a video',
      description:
        'A form with one part `file`: JPEG, PNG, GIF, WebP or AVIF of up to 30 MB and 50 million pixels, or MP4 or WebM of up to 100 MB. Websites show variants of an image, which are made before this answers: upright, without places and other metadata. A dry run stores nothing, and so does not look into the file.',
      tag: mediaTag,
      scope: 'website',
      access: 'editors',
      feature: 'content',
      upload: { files, admit: storageLimit.admit },
      asksProvider: true,
      body: Type.Object({
        name: Type.Optional(FileName('shop.jpg')),
        alt: Type.Optional(
          NonBlank(300, {
            description: 'What it shows, for those who do not see it. Without one, websites show an image as decoration.',
            examples: [altExample],
          }),
        ),
      }),
      refusals: ['storage_limit_reached', 'too_many_media', 'media_not_found'],
      answers: { 201: { description: 'The image or video.', schema: Media } },
      act: async ({ params: { id: websiteId }, body, upload, keepUpload, context }, acting) => {
        const { key: file, fileName, contentType, bytes: size, sha256 } = upload;
        const name = body.name === undefined ? fileName : cleaned(body.name);
        const kind = kindOf(upload);
        const alt = body.alt?.trim();
        const { variants, ...shape } = await shapeOf(kind, upload);
        const stored = variants.map(({ key, bytes, ...variant }) => ({ ...variant, file: key, size: bytes }));
        try {
          const handled = await storageLimit.withRoom(websiteId, 'added', async (room) => {
            const kept = await countKeptMedia(reader, websiteId);
            const media = { websiteId, kind, file, name, contentType, size, sha256, alt, ...shape, variants: stored } as const;
            return uploadMedia(acting, { ...media, room, kept }, context);
          });
          if (handled.hasFiles) keepUpload();
          else await mediaProcessor.removeVariants(variants);
          return handled;
        } catch (error) {
          // After any other error it may have been recorded; what was not is removed with the orphans.
          if (error instanceof Refused) await mediaProcessor.removeVariants(variants);
          throw error;
        }
      },
      answer: async ({ params: { id } }, { mediaId, revision }) => ({
        ...(await answerAsOf(id, mediaId, revision)),
        status: 201,
      }),
    }),

    route({
      method: 'get',
      path: '/websites/:id/media/:mediaId',
      operationId: 'getMedia',
      summary: 'Read what is known of an image or video',
      description: 'The file itself has an address of its own (`…/url`); websites show its variants.',
      tag: mediaTag,
      scope: 'website',
      access: 'members',
      feature: 'content',
      refusals: ['media_not_found'],
      answers: { 200: { description: 'The image or video.', schema: Media } },
      answer: ({ params: { id, mediaId } }) => answerAsOf(id, mediaId),
    }),

    route({
      method: 'patch',
      path: '/websites/:id/media/:mediaId',
      operationId: 'describeMedia',
      summary: 'Say what an image or video shows',
      description: 'A website shows the former description until a document that names it is saved and published again.',
      tag: mediaTag,
      scope: 'website',
      access: 'editors',
      feature: 'content',
      ifMatch: 'honoured',
      body: Type.Object({
        alt: Type.Union([NonBlank(300), Type.Null()], {
          description: 'The description; `null`: none.',
          examples: [altExample],
        }),
      }),
      refusals: ['media_not_found'],
      answers: { 200: { description: 'The image or video.', schema: Media } },
      act: ({ params: { id: websiteId, mediaId }, body: { alt }, context, expectation }, acting) =>
        acting.handle(
          mediaDecider,
          { type: 'DescribeMedia', websiteId, mediaId, alt: alt === null ? null : alt.trim() },
          context,
          expectation,
        ),
      answer: ({ params: { id, mediaId } }, { revision }) => answerAsOf(id, mediaId, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/media/:mediaId',
      operationId: 'deleteMedia',
      summary: 'Delete an image or video',
      description:
        'It can be restored for 30 days. Then its files are removed. A website that shows it keeps it until its content is published again.',
      tag: mediaTag,
      scope: 'website',
      access: 'editors',
      feature: 'content',
      ifMatch: 'honoured',
      refusals: ['media_not_found'],
      answers: { 204: { description: 'It is deleted, and its addresses are refused.' } },
      act: async ({ params: { id: websiteId, mediaId }, context, expectation }, acting) => {
        const command = { type: 'DeleteMedia', websiteId, mediaId } as const;
        await acting.handle(mediaDecider, command, context, { ...expectation, ifNothing: refusals.mediaNotFound(mediaId) });
      },
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/media/:mediaId/undo',
      operationId: 'restoreMedia',
      summary: 'Restore a deleted image or video',
      description: 'Within 30 days of its deletion. One that is not deleted stays as it is.',
      tag: mediaTag,
      scope: 'website',
      access: 'editors',
      feature: 'content',
      ifMatch: 'honoured',
      refusals: ['media_not_found', 'media_deleted_too_long_ago', 'storage_limit_reached'],
      answers: { 200: { description: 'The image or video.', schema: Media } },
      act: ({ params: { id: websiteId, mediaId }, context, expectation }, acting) =>
        storageLimit.withRoom(websiteId, 'restored', (room) =>
          acting.handle(mediaDecider, { type: 'RestoreMedia', websiteId, mediaId, room }, context, expectation),
        ),
      answer: ({ params: { id, mediaId } }, { revision }) => answerAsOf(id, mediaId, revision),
    }),

    route({
      method: 'get',
      path: '/websites/:id/media/:mediaId/url',
      operationId: 'getMediaAddress',
      summary: 'Get an address of the file, good for 5 minutes',
      description:
        'Of the file as it was uploaded, with its metadata. Whoever has the address gets the file. One of this service is refused as soon as the caller lost access or the file is deleted; one of S3 lapses.',
      tag: mediaTag,
      scope: 'website',
      access: 'members',
      feature: 'content',
      query: Type.Object({
        disposition: Type.Optional(
          Type.Enum(['inline', 'attachment'], {
            default: 'attachment',
            description: 'Whether it is shown, which only images are, or saved.',
          }),
        ),
      }),
      asksProvider: true,
      refusals: ['media_not_found'],
      answers: { 200: { description: 'The address.', schema: FileAddress } },
      answer: async ({ params: { id, mediaId }, query: { disposition = 'attachment' }, caller, viewer }) => {
        const { document } = await find(id, mediaId);
        if (disposition === 'inline' && document.kind === 'video') {
          throw new Refused(refusals.invalidQuery('disposition', 'only images can be shown; use attachment'));
        }
        return { body: await fileAddresses.sign('media', document, disposition, { caller, viewer }) };
      },
    }),
  ];
};
