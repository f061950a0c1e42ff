import { defineStream } from '../defineStream.js';
import { redeployEvents } from './deployment.events.js';

export const redeployStream = defineStream({
  category: 'redeploy',
  key: ({ redeployId }: { readonly redeployId: string }) => redeployId,
  named: '<redeployId>',
  holds: 'who had a website built again, and what the hosting provider began',
  guards: 'one deployment for each request',
  events: redeployEvents,
  personal: {},
});
