import { defineStream } from '../defineStream.js';
import { textId } from '../../platform/ids.js';
import { webhookEvents } from './webhook.events.js';

export const webhookStream = defineStream({
  category: 'webhook',
  key: ({ websiteId, webhookId }: { readonly websiteId: string; readonly webhookId: string }) =>
    `${websiteId}-${textId(webhookId)}`,
  named: '<websiteId>-<hash of its id>',
  holds: 'one webhook: received, attempts, processed, ignored or parked',
  guards: 'processed once',
  events: webhookEvents,
  personal: {},
});
