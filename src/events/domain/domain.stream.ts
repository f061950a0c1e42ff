import { defineStream } from '../defineStream.js';
import { domainEvents } from './domain.events.js';

export const domainStream = defineStream({
  category: 'domain',
  key: ({ domain }: { readonly domain: string }) => domain,
  named: '<domain>',
  holds: 'which website has the domain, and whether that is proved',
  guards: 'a domain belongs to one website',
  events: domainEvents,
  personal: {},
});
