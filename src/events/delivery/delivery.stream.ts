import { defineStream } from '../defineStream.js';
import { deliveryEvents } from './delivery.events.js';

export const deliveryStream = defineStream({
  category: 'delivery',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'the delivery block',
  guards: 'at most 40 checkpoints, unique ids, `completedAt` if and only if done',
  events: deliveryEvents,
  personal: {},
});
