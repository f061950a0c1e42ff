import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';

/** Stream `preview-<previewId>`: that somebody had a draft of a website built. */
export const previewEvents = {
  ContentPreviewed: event(Type.Object({ previewId: Type.String(), websiteId: Type.String(), expiresAt: Time })),
};

export type PreviewEvent = EventOf<typeof previewEvents>;
