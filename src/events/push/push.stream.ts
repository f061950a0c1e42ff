import { defineStream } from '../defineStream.js';
import { pushEvents } from './push.events.js';

export const pushStream = defineStream({
  category: 'push',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'who pushed which commit to the default branch of an embedded repository',
  guards: 'one deployment for each push',
  events: pushEvents,
  personal: {},
});
