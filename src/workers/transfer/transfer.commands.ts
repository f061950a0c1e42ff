import type { AnyCommand } from '../../commands/decider.js';
import type { Handover, HandoverItems } from '../../events/billing/handover.js';
import type { Fault, RecordFailure, RenewLease, StartAttempt } from '../lease.js';
import type { BillingFault, BillingTask, Claim } from '../../events/billing/billing.state.js';

/** Commands come from workers; those about an attempt that is not current change nothing. */
export type BillingCommand = AnyCommand & { readonly websiteId: string } & (
    DeclineClaim | (AttemptCommand & { readonly attempt: number })
  );

/** What a worker reports about an attempt. */
type AttemptCommand = (StartAttempt & { readonly task: BillingTask }) | RenewLease | AttemptOutcome;

/**
 * Declines a claim before it begins: another claim of the website is under way, or its offer was
 * withdrawn.
 */
export interface DeclineClaim {
  readonly type: 'DeclineClaim';
  readonly claim: Claim;
  readonly isWithdrawn: boolean;
}

/** What the hand-over comes to, drawn up with the first record of a claim; absent when it was before. */
export interface OfHandover {
  readonly handover?: HandoverDraft | undefined;
}

export type HandoverDraft = HandoverItems & Pick<Handover, 'payer' | 'previousOwnerId' | 'priceId' | 'price' | 'subscriptionId'>;

/** The outcome of an attempt, so far or final. */
export type AttemptOutcome =
  | (OfHandover & {
      readonly type: 'RecordRequest';
      readonly claim: Claim;
      readonly provider: string;
      readonly customerId: string;
    })
  | (OfHandover & {
      readonly type: 'RecordAttachment';
      readonly claim: Claim;
      readonly provider: string;
      readonly customerId: string;
      readonly subscriptionId: string;
    })
  | { readonly type: 'RecordOwnership'; readonly claim: Claim }
  | { readonly type: 'RecordSubscription'; readonly claim: Claim; readonly subscriptionId: string }
  | { readonly type: 'RecordEnd'; readonly clientId: string }
  | { readonly type: 'RecordCompletion'; readonly claim: Claim }
  | (RecordFailure & {
      readonly task: BillingTask;
      readonly fault: Fault & BillingFault;
      /** Whether the website belongs to the claimant; of an end it says nothing. */
      readonly isOwner: boolean;
    });
