import { defineStream } from '../defineStream.js';
import { serviceEvents } from './service.events.js';

export const servicesStream = defineStream({
  category: 'services',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'what is attached to a website, by kind; names of its secrets',
  guards: 'one service of a kind',
  events: serviceEvents,
  personal: {},
});
