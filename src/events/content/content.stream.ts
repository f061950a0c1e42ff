import { defineStream } from '../defineStream.js';
import { contentEvents, type ContentCollection } from './content.events.js';

export interface ContentKey {
  readonly websiteId: string;
  readonly collection: ContentCollection;
  readonly documentId: string;
}

export const contentStream = defineStream({
  category: 'content',
  // No document id has a dot, so that the two collections never share a stream.
  key: ({ websiteId, collection, documentId }: ContentKey) =>
    `${websiteId}-${collection === 'content' ? '' : `${collection}.`}${documentId}`,
  named: '<websiteId>-<documentId>',
  holds: 'every version of a content document, or (`marketing.<documentId>`) of a marketing document',
  guards: 'a version is saved over the one that its author saw',
  events: contentEvents,
  personal: {},
});
