import { defineStream } from '../defineStream.js';
import { publicationEvents } from './publication.events.js';

export const publicationStream = defineStream({
  category: 'publication',
  key: ({ publicationId }: { readonly publicationId: string }) => publicationId,
  named: '<publicationId>',
  holds: 'that saved content was put into the repository of its website, and deployed',
  guards: 'one commit and one deployment for each request',
  events: publicationEvents,
  personal: {},
});
