import { defineStream } from '../defineStream.js';
import { receiptEvents } from './receipt.events.js';

export interface ReceiptKey {
  readonly websiteId: string;
}

export const receiptStream = defineStream({
  category: 'receipts',
  key: ({ websiteId }: ReceiptKey) => websiteId,
  named: '<websiteId>',
  holds: 'who saw which revision of the delivery block',
  guards: 'for each person one look a minute, and each newer revision',
  events: receiptEvents,
  personal: {},
});
