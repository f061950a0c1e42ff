import { defineStream } from '../defineStream.js';
import { documentEvents } from './document.events.js';

export interface DocumentKey {
  readonly documentId: string;
}

export const documentStream = defineStream({
  category: 'document',
  key: ({ documentId }: DocumentKey) => documentId,
  named: '<documentId>',
  holds: 'one document of a website: its file, its name, its deletion',
  guards: 'restored or purged, never both',
  events: documentEvents,
  personal: {},
});
