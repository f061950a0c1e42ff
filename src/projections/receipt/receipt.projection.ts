import type { Actor } from '../../events/envelope.js';
import { receiptEvents, type ReceiptEvent } from '../../events/receipt/receipt.events.js';
import { looksAfter, type Looks } from '../../events/receipt/receipt.looks.js';
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

const idOf = ({ websiteId, readerId }: { readonly websiteId: string; readonly readerId: string }): string =>
  `${websiteId}-${readerId}`;

/** One document for each person of a stream: read it by lists, because a validated read knows one for each stream. */
export const receiptProjection: Projection<ReceiptDocument, ReceiptEvent> = defineProjection({
  name: 'receipt',
  version: 1,
  stream: { ...receiptStream, events: receiptEvents },
  documentId: ({ data }) => idOf(data),
  streamOf: (id) => receiptStream.name({ websiteId: id.slice(0, id.indexOf('-')) }),
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
