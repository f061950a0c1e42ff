import { Type, type Static } from 'typebox';
import type { MediaDocument } from '../../../projections/media/media.projection.js';

const size = {
  width: Type.Integer({ description: 'In pixels, as it is shown.', examples: [1600] }),
  height: Type.Integer({ description: 'In pixels, as it is shown.', examples: [1067] }),
};

export const Media = Type.Object(
  {
    id: Type.String({ examples: ['01m820a7x0d2p4w7z0c3e5g8jm'] }),
    websiteId: Type.String(),
    kind: Type.Enum(['image', 'video']),
    name: Type.String({ description: 'Of the file, cleaned.', examples: ['shop.jpg'] }),
    contentType: Type.String({ description: 'By the content of the file.', examples: ['image/jpeg'] }),
    size: Type.Integer({ description: 'Of the file, in bytes.', examples: [482_100] }),
    sha256: Type.String({
      description: 'Of the content, hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    alt: Type.Optional(
      Type.String({
        description:
          'What it shows, for those who do not see it. Absent: nobody has said so; websites show an image as decoration.',
        examples: ['The shop with its red door'],
      }),
    ),
    ...size,
    durationMs: Type.Optional(
      Type.Integer({ description: 'Of a video, as its container says; in milliseconds.', examples: [12_500] }),
    ),
    variants: Type.Array(
      Type.Object({
        contentType: Type.String({
          description: 'WebP, and one in a format that every program reads.',
          examples: ['image/webp'],
        }),
        ...size,
        size: Type.Integer({ description: 'In bytes.', examples: [61_200] }),
      }),
      { description: 'What websites show of an image: upright, and without its metadata. None of a video.' },
    ),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Media', description: 'An image or a video that the content of a website can show.' },
);

export const toMedia = ({ alt, durationMs, variants, ...document }: MediaDocument): Static<typeof Media> => {
  // What was stored has a size: the plan of a dry run alone has none.
  const { width = 0, height = 0 } = document;
  return {
    id: document.id,
    websiteId: document.websiteId,
    kind: document.kind,
    name: document.name,
    contentType: document.contentType,
    size: document.size,
    sha256: document.sha256,
    ...(alt !== undefined && { alt }),
    width,
    height,
    ...(durationMs !== undefined && { durationMs }),
    variants: variants.map((variant) => ({
      contentType: variant.contentType,
      width: variant.width,
      height: variant.height,
      size: variant.size,
    })),
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
  };
};
