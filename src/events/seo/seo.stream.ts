import { defineStream } from '../defineStream.js';
import { seoEvents } from './seo.events.js';

export const seoStream = defineStream({
  category: 'seo',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'scans: requests, attempts, leases, findings',
  guards: 'one scan at a time',
  events: seoEvents,
  personal: {},
});
