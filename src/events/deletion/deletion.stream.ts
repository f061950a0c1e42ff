import { defineStream } from '../defineStream.js';
import { deletionEvents } from './deletion.events.js';

export const deletionStream = defineStream({
  category: 'deletion',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'the removal of what a deleted website has left',
  guards: 'one attempt at a time',
  events: deletionEvents,
  personal: {},
});
