import { defineStream } from '../defineStream.js';
import { blueprintEvents } from './blueprint.events.js';

export const blueprintStream = defineStream({
  category: 'blueprint',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'where people put the nodes of a website’s blueprint',
  guards: 'a position for each node that there is',
  events: blueprintEvents,
  personal: {},
});
