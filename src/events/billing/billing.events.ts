import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { attemptFailure, leaseRenewal, leaseStart, Time } from '../fields.js';
import { HandoverItems, HandoverPrice, MovingItem, Payer } from './handover.js';
import { billingUpcasters } from './billing.upcasters.js';

/** Stream `customer-<clientId>`: which customer a client is at a payment provider. */
export const customerEvents = {
  CustomerAttached: event(Type.Object({ clientId: Type.String(), provider: Type.String(), customerId: Type.String() })),
};

export type CustomerEvent = EventOf<typeof customerEvents>;

const ofAccount = { websiteId: Type.String(), clientId: Type.String(), provider: Type.String(), customerId: Type.String() };
const ofClaim = {
  websiteId: Type.String(),
  invitationId: Type.String(),
  /** Id of the event `TransferClaimed`. */
  claimId: Type.String(),
  clientId: Type.String(),
};

const ofInvoice = {
  websiteId: Type.String(),
  invoiceId: Type.String(),
  /** Whom it is for. */
  clientId: Type.String(),
};

/**
 * Stream `billing-<websiteId>`: who is billed for a website, and the process that carries out
 * transfers; the invoices that admins write and settle.
 */
export const billingEvents = {
  /** `about`: a claim, or a client whose subscription has to end. */
  BillingAttemptStarted: event(
    Type.Object({
      websiteId: Type.String(),
      about: Type.String(),
      ...leaseStart,
    }),
  ),
  BillingLeaseRenewed: event(Type.Object({ websiteId: Type.String(), ...leaseRenewal })),
  BillingAttemptFailed: event(
    Type.Object({
      websiteId: Type.String(),
      ...attemptFailure,
      /** The provider that failed, if one did. */
      provider: Type.Optional(Type.String()),
      /** Whether the provider did not answer in time. */
      late: Type.Boolean(),
    }),
  ),
  /** From now on there may be a subscription, even if the attempt fails. */
  SubscriptionRequested: event(Type.Object({ ...ofAccount, claimId: Type.String() })),
  SubscriptionAttached: event(Type.Object({ ...ofAccount, claimId: Type.String(), subscriptionId: Type.String() })),
  /**
   * From now on a subscription that existed already may be marked as the client's for the website,
   * even if the attempt fails.
   */
  AttachmentRequested: event(Type.Object({ ...ofAccount, claimId: Type.String(), subscriptionId: Type.String() })),
  /**
   * What the hand-over comes to, before anything of it is done. `payer` is who pays until then, and
   * `previousOwnerId` who owns the website until then; `subscriptionId`: one that exists is attached.
   * `price` is that of a new subscription as it is then; version 1 had none.
   */
  TransferLedgerDrawnUp: event(
    Type.Object({
      ...ofClaim,
      ...HandoverItems.properties,
      payer: Payer,
      previousOwnerId: Type.Optional(Type.String()),
      priceId: Type.Optional(Type.String()),
      price: Type.Optional(HandoverPrice),
      subscriptionId: Type.Optional(Type.String()),
    }),
    billingUpcasters.TransferLedgerDrawnUp,
  ),
  /** These of the moving items are done. */
  TransferItemsDone: event(Type.Object({ ...ofClaim, items: Type.Array(MovingItem) })),
  /** The claim came to nothing: the subscription goes on as it was before, unmarked. */
  SubscriptionDetached: event(Type.Object({ ...ofAccount, subscriptionId: Type.String() })),
  /** Nothing is left of the client's subscription for the website. */
  SubscriptionEnded: event(Type.Object(ofAccount)),
  /**
   * The claim never began: another claim of the website was under way, or the offer had been
   * withdrawn.
   */
  TransferDeclined: event(Type.Object(ofClaim)),
  TransferCompleted: event(Type.Object(ofClaim)),
  TransferFailed: event(Type.Object({ ...ofClaim, reason: Type.String() })),
  /**
   * The log decides on the invoices of the embedded ledger, which is written afterwards. `total` is
   * in the smallest unit of the currency; the description may name the client and is encrypted.
   */
  InvoiceIssued: event(
    Type.Object({
      ...ofInvoice,
      total: Type.Integer({ minimum: 1 }),
      currency: Type.String(),
      description: Type.String(),
      dueAt: Type.Optional(Time),
    }),
  ),
  InvoicePaid: event(Type.Object(ofInvoice)),
  InvoiceVoided: event(Type.Object(ofInvoice)),
  /** Another payment provider is asked to void the invoice, and decides. */
  InvoiceVoidRequested: event(Type.Object(ofInvoice)),
};

export type BillingEvent = EventOf<typeof billingEvents>;
