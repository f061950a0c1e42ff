import { defineStream } from '../defineStream.js';
import { blueprintEvents } from './blueprint.events.js';

export const blueprintStream = defineStream({
  category: 'blueprint',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'where people put the nodes of a website’s blueprint',
  guards: 'one position for each node',
  events: blueprintEvents,
  personal: {},
});
