import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** Stream `viewing-<viewingId>`. Who looked, and when, stands in the metadata. */
export const viewingEvents = {
  /** An admin asked for the answer that the person of the address would get (`?as=`). */
  PersonViewed: event(
    Type.Object({
      viewingId: Type.String(),
      email: Type.String(),
      /** Without the query, which may hold anything. */
      path: Type.String(),
      /** The website that the path is about. */
      websiteId: Type.Optional(Type.String()),
    }),
  ),
};

export type ViewingEvent = EventOf<typeof viewingEvents>;
