import type { MediaEvent } from '../../events/media/media.events.js';
import { mediaStream } from '../../events/media/media.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** An image or video of a website; a deleted one until it is purged. */
export type MediaDocument = {
  readonly id: string;
  readonly websiteId: string;
  readonly stage: 'live' | 'deleted';
  readonly kind: 'image' | 'video';
  /** The key of the file in the file store. */
  readonly file: string;
  /** The file, and those of its variants. */
  readonly files: readonly string[];
  readonly name: string;
  readonly contentType: string;
  /** Of the file, in bytes. */
  readonly size: number;
  /** Of all files. */
  readonly storedSize: number;
  readonly sha256: string;
  readonly alt?: string;
  readonly width?: number;
  readonly height?: number;
  readonly durationMs?: number;
  readonly variants: readonly {
    readonly file: string;
    readonly contentType: string;
    readonly width: number;
    readonly height: number;
    readonly size: number;
  }[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt?: string;
};

export const mediaProjection: Projection<MediaDocument, MediaEvent> = defineProjection({
  name: 'media',
  version: 1,
  stream: mediaStream,
  on: {
    MediaUploaded: (_document, { data: { mediaId, ...data }, metadata: { at } }) => ({
      id: mediaId,
      ...data,
      stage: 'live',
      files: [data.file, ...data.variants.map(({ file }) => file)],
      storedSize: data.variants.reduce((sum, { size }) => sum + size, data.size),
      createdAt: at,
      updatedAt: at,
    }),
    MediaDescribed: (document, { data: { alt }, metadata: { at } }) => {
      if (document === null) return null;
      const { alt: _, ...rest } = document;
      return { ...rest, ...(alt !== undefined && { alt }), updatedAt: at };
    },
    MediaDeleted: (document, { metadata: { at } }) =>
      document === null ? null : { ...document, stage: 'deleted', deletedAt: at },
    MediaRestored: (document) => {
      if (document === null) return null;
      const { deletedAt: _, ...rest } = document;
      return { ...rest, stage: 'live' };
    },
    MediaPurged: () => null,
  },
  indexes: [
    { field: 'websiteId' },
    { field: 'stage' },
    { field: 'kind' },
    { field: 'files' },
    { field: 'name', sorts: true },
    { field: 'createdAt', sorts: true },
  ],
});
