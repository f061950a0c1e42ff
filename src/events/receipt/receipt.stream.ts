import { defineStream, streamPrefix, type StreamNaming } from '../defineStream.js';
import { receiptEvents } from './receipt.events.js';

export interface ReceiptKey {
  readonly websiteId: string;
  readonly readerId: string;
}

export const receiptStream = defineStream({
  category: 'receipts',
  key: ({ websiteId, readerId }: ReceiptKey) => `${websiteId}-${readerId}`,
  named: '<websiteId>-<readerId>',
  holds: 'which revisions of the delivery block one person saw',
  guards: 'one look a minute, and each newer revision',
  events: receiptEvents,
  personal: {},
});

/** Where the looks of everybody at a website stand that were recorded before each person had a stream. */
export const earlierReceiptStream: StreamNaming<Pick<ReceiptKey, 'websiteId'>> = {
  category: receiptStream.category,
  name: ({ websiteId }) => streamPrefix(receiptStream) + websiteId,
};
