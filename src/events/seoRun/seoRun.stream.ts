import { defineStream } from '../defineStream.js';
import { seoRunEvents } from './seoRun.events.js';

/** `dueAt`: ISO 8601 UTC. */
export const seoRunStream = defineStream({
  category: 'seo-run',
  key: ({ dueAt }: { readonly dueAt: string }) => dueAt,
  named: '<time>',
  holds: 'what the schedule asked for at that time, and how far it came',
  guards: 'one run for each time, one attempt at a time',
  events: seoRunEvents,
  personal: {},
});
