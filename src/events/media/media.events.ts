import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const ofMedia = { websiteId: Type.String(), mediaId: Type.String() };
const size = {
  /** In pixels, as it is shown. Absent in the plan of a dry run alone, which stores no file. */
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
};

/** Stream `media-<mediaId>`. */
export const mediaEvents = {
  MediaUploaded: event(
    Type.Object({
      ...ofMedia,
      kind: Type.Enum(['image', 'video']),
      /** The key of the file in the file store. */
      file: Type.String(),
      name: Type.String(),
      contentType: Type.String(),
      size: Type.Integer(),
      sha256: Type.String(),
      /** What it shows, for those who do not see it. */
      alt: Type.Optional(Type.String()),
      ...size,
      durationMs: Type.Optional(Type.Integer()),
      /** What websites show instead of the file; of images alone. */
      variants: Type.Array(
        Type.Object({
          file: Type.String(),
          contentType: Type.String(),
          width: Type.Integer(),
          height: Type.Integer(),
          size: Type.Integer(),
        }),
      ),
    }),
  ),
  MediaDescribed: event(
    Type.Object({ ...ofMedia, alt: Type.Optional(Type.String()), previousAlt: Type.Optional(Type.String()) }),
  ),
  MediaDeleted: event(Type.Object(ofMedia)),
  MediaRestored: event(Type.Object(ofMedia)),
  /** It cannot be restored any more, and its files are removed. */
  MediaPurged: event(Type.Object({ ...ofMedia, files: Type.Array(Type.String()) })),
};

export type MediaEvent = EventOf<typeof mediaEvents>;
