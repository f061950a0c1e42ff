import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { contentUpcasters } from './content.upcasters.js';

/** `content` is for a website's pages, `marketing` for people to read. */
export const ContentCollection = Type.Enum(['content', 'marketing']);
export type ContentCollection = Static<typeof ContentCollection>;

const ofDocument = { websiteId: Type.String(), collection: ContentCollection, documentId: Type.String() };

/** The whole document, and the SHA-256 of its canonical form (`platform/canonicalJson.ts`). */
const body = { hash: Type.String(), body: Type.Unknown() };

/** Stream `content-<websiteId>-<documentId>`. */
export const contentEvents = {
  ContentSaved: event(Type.Object({ ...ofDocument, ...body })),
  /** An earlier version was saved again. */
  ContentRestored: event(Type.Object({ ...ofDocument, ...body })),
  /** What the website's repository holds from this commit on. `revision`: of this stream, as of which it was read; version 1 had none. */
  ContentPublished: event(
    Type.Object({
      ...ofDocument,
      hash: Type.String(),
      revision: Type.Optional(Type.Integer({ minimum: 0 })),
      commit: Type.String(),
    }),
    contentUpcasters.ContentPublished,
  ),
};

export type ContentEvent = EventOf<typeof contentEvents>;
