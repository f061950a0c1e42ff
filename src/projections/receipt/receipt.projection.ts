import type { Actor } from '../../events/envelope.js';
import { receiptEvents, type ReceiptEvent } from '../../events/receipt/receipt.events.js';
import { looksAfter, type Looks } from '../../events/receipt/receipt.looks.js';
import { keyTextOf } from '../../events/defineStream.js';
import { receiptStream } from '../../events/receipt/receipt.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** What one person saw of the delivery block of one website. */
export type ReceiptDocument = Looks & {
  readonly websiteId: string;
  /** Absent of admins. */
  readonly clientId?: string;
  /** As at the last look; the subject may be encrypted. */
  readonly actor: {
    readonly subject: string;
    readonly role: Actor['role'];
    readonly via: Actor['via'];
    readonly tokenId?: string;
  };
};

/** Read it by lists: earlier looks stand in a stream for all people of a website, where no validated read finds them. */
export const receiptProjection: Projection<ReceiptDocument, ReceiptEvent> = defineProjection({
  name: 'receipt',
  version: 1,
  stream: { ...receiptStream, events: receiptEvents },
  documentId: ({ data }) => keyTextOf(receiptStream, data),
  indexes: [{ field: 'websiteId' }, { field: 'clientId' }],
  on: {
    DeliveryRevisionSeen: (before, { data: { websiteId, clientId, revision }, metadata: { at, actor } }) => {
      const { subject, role, via, tokenId } = actor;
      return {
        websiteId,
        ...(clientId !== undefined && { clientId }),
        actor: { subject, role, via, ...(tokenId !== undefined && { tokenId }) },
        ...looksAfter(before ?? undefined, revision, at),
      };
    },
  },
});
