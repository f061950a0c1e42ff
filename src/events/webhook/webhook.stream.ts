import { defineStream } from '../defineStream.js';
import { textId } from '../../platform/ids.js';
import { webhookContentEvents, webhookEvents } from './webhook.events.js';

export const webhookStream = defineStream({
  category: 'webhook',
  key: ({ websiteId, webhookId }: { readonly websiteId: string; readonly webhookId: string }) =>
    `${websiteId}-${textId(webhookId)}`,
  named: '<websiteId>-<hash of its id>',
  holds: 'one webhook: received, attempts, processed, ignored or parked',
  guards: 'processed once',
  events: webhookEvents,
  personal: {},
  // One that was processed is in the audit.
  retention: { days: 30, isEnd: ({ type }) => type === 'WebhookIgnored' },
});

export const webhookContentStream = defineStream({
  category: 'webhook-content',
  key: ({ websiteId, content }: { readonly websiteId: string; readonly content: string }) => `${websiteId}-${content}`,
  named: '<websiteId>-<blind index of topic and body>',
  holds: 'which webhook of a topic came first with a body',
  guards: 'one webhook for each topic and body, whatever id it is sent under',
  events: webhookContentEvents,
  personal: {},
  // The stream stays known, so that the body is taken for no other webhook.
  retention: { days: 30, isEnd: () => true },
});
