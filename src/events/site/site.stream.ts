import { defineStream } from '../defineStream.js';
import { siteEvents } from './site.events.js';

export const siteStream = defineStream({
  category: 'site',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: "what the variables of a website's hosting project say; deployments that are queued with a change",
  guards: 'one update of a site at a time',
  events: siteEvents,
  personal: {},
});
