import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** Stream `receipts-<websiteId>-<readerId>`. Who looked, and when, stands in the metadata. */
export const receiptEvents = {
  /** A person looked at the delivery block. */
  DeliveryRevisionSeen: event(
    Type.Object({
      websiteId: Type.String(),
      /** Tells people apart: the client's id, or of an admin a blind index of the subject. */
      readerId: Type.String(),
      /** Absent of admins. */
      clientId: Type.Optional(Type.String()),
      /** Of the delivery block. */
      revision: Type.Integer({ minimum: 0 }),
    }),
  ),
};

export type ReceiptEvent = EventOf<typeof receiptEvents>;
