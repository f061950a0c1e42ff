import type { BillingEvent } from './billing.events.js';
import type { Handover } from './handover.js';
import { billingStream } from './billing.stream.js';
import type { Recorded } from '../envelope.js';
import { withEntry, type StreamFold } from '../fold.js';
import { attemptFailed, attemptStarted, leaseRenewed, noAttempts, noAttemptsSince, type Attempts } from '../attempts.js';

/** Stream `billing-<websiteId>`. */
export interface BillingState {
  /** Who has, had, or may have a subscription for the website, by client id. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** The outcomes of claims, by claim id. */
  readonly outcomes: ReadonlyMap<string, ClaimOutcome>;
  /** The claim under way, of which a website has at most one. */
  readonly claimId?: string;
  /** What the last attempt was about. */
  readonly about: string;
  readonly attempts: Attempts;
  /** Of that attempt. */
  readonly lastFault?: BillingFault;
  /** What claims came to, by claim id. */
  readonly handovers: ReadonlyMap<string, Handover>;
}

export type ClaimOutcome = 'completed' | 'declined' | { readonly failed: BillingFault };

export interface Account {
  readonly provider: string;
  readonly customerId: string;
  readonly subscriptionId?: string;
  /**
   * A subscription that existed before the claim: until the claim is completed it is let go rather
   * than ended.
   */
  readonly existing?: string;
  /** `requested`: it is unknown whether there is a subscription. */
  readonly stage: 'requested' | 'attached' | 'ended';
}

/** What went wrong, as a message for people, and which provider failed. */
export interface BillingFault {
  readonly error: string;
  readonly transient: boolean;
  /** Absent when no provider failed. */
  readonly provider?: string;
  /** Whether the provider did not answer in time. */
  readonly late: boolean;
}

export interface Claim {
  readonly websiteId: string;
  readonly invitationId: string;
  readonly claimId: string;
  readonly clientId: string;
}

/**
 * What there is to do: carry out a claim, or end the subscription of a client who is not the owner.
 */
export type BillingTask = { readonly kind: 'claim'; readonly claim: Claim } | { readonly kind: 'end'; readonly clientId: string };

/** Names the task in events. */
export const aboutOf = (task: BillingTask): string => (task.kind === 'claim' ? task.claim.claimId : `end ${task.clientId}`);

const isEnd = (about: string): boolean => about.startsWith('end ');

/**
 * The attempts at a task. A lease on the website blocks every task; a pause blocks only the task
 * that it belongs to.
 */
export const attemptsAt = ({ about, attempts }: BillingState, task: BillingTask): Attempts => {
  if (about === aboutOf(task)) return attempts;
  const { attempt, lease } = attempts;
  return { ...noAttemptsSince(attempt), ...(lease !== undefined && { lease }) };
};

const over = (state: BillingState): BillingState => {
  const { lastFault: _, ...others } = state;
  return { ...others, about: '', attempts: noAttemptsSince(state.attempts.attempt) };
};

const withAccount = (state: BillingState, clientId: string, account: Account): BillingState => ({
  ...state,
  accounts: withEntry(state.accounts, clientId, account),
});

const withOutcome = (state: BillingState, claimId: string, outcome: ClaimOutcome): BillingState => {
  const { claimId: underWay, ...others } = state;
  const outcomes = withEntry(state.outcomes, claimId, outcome);
  return underWay === claimId ? { ...over(others), outcomes } : { ...state, outcomes };
};

/** From now on the client's subscription is the website's, whatever it was before. */
const asOwn = (state: BillingState, clientId: string): BillingState => {
  const { existing, ...account } = state.accounts.get(clientId) ?? {};
  return existing === undefined ? state : withAccount(state, clientId, account as Account);
};

const withHandover = (state: BillingState, claimId: string, changes: Partial<Handover>): BillingState => {
  const handover = state.handovers.get(claimId) ?? noHandover;
  return { ...state, handovers: withEntry(state.handovers, claimId, { ...handover, ...changes }) };
};

/** Of a claim that was carried out before hand-overs were recorded. */
const noHandover: Handover = { items: { moves: [], stays: [], missing: [] }, drawnUpAt: '', payer: 'agency', done: new Map() };

const evolve = (state: BillingState, event: Recorded<BillingEvent>): BillingState => {
  switch (event.type) {
    case 'BillingAttemptStarted': {
      const { about } = event.data;
      const before = about === state.about ? state : over(state);
      const claim = isEnd(about) ? {} : { claimId: about };
      return { ...before, ...claim, about, attempts: attemptStarted(before.attempts, event) };
    }
    case 'BillingLeaseRenewed':
      return { ...state, attempts: leaseRenewed(state.attempts, event) };
    case 'BillingAttemptFailed': {
      const { error, transient, provider, late } = event.data;
      const lastFault = { error, transient, late, ...(provider !== undefined && { provider }) };
      return { ...state, attempts: attemptFailed(state.attempts, event), lastFault };
    }
    case 'SubscriptionRequested': {
      const { clientId, provider, customerId } = event.data;
      return withAccount(state, clientId, { provider, customerId, stage: 'requested' });
    }
    case 'AttachmentRequested': {
      const { clientId, provider, customerId, subscriptionId: existing } = event.data;
      return withAccount(state, clientId, { provider, customerId, existing, stage: 'requested' });
    }
    case 'SubscriptionAttached': {
      const { clientId, provider, customerId, subscriptionId } = event.data;
      const existing = state.accounts.get(clientId)?.existing;
      const before = existing === subscriptionId ? { existing } : {};
      return withAccount(state, clientId, { provider, customerId, subscriptionId, ...before, stage: 'attached' });
    }
    case 'SubscriptionDetached':
    case 'SubscriptionEnded': {
      const account = state.accounts.get(event.data.clientId);
      return account === undefined ? state : over(withAccount(state, event.data.clientId, { ...account, stage: 'ended' }));
    }
    case 'TransferLedgerDrawnUp': {
      const { moves, stays, missing, payer, previousOwnerId, invitationId, clientId } = event.data;
      const { priceId, price, subscriptionId } = event.data;
      return withHandover(state, event.data.claimId, {
        claim: { invitationId, newOwnerId: clientId },
        items: { moves, stays, missing },
        drawnUpAt: event.metadata.at,
        payer,
        ...(previousOwnerId !== undefined && { previousOwnerId }),
        ...(priceId !== undefined && { priceId }),
        ...(price !== undefined && { price }),
        ...(subscriptionId !== undefined && { subscriptionId }),
      });
    }
    case 'TransferItemsDone': {
      const { claimId, items } = event.data;
      const done = new Map(state.handovers.get(claimId)?.done);
      for (const item of items) done.set(item, event.metadata.at);
      return withHandover(state, claimId, { done });
    }
    case 'TransferDeclined':
      return withOutcome(state, event.data.claimId, 'declined');
    case 'TransferCompleted':
      return withOutcome(
        withHandover(asOwn(state, event.data.clientId), event.data.claimId, { completedAt: event.metadata.at }),
        event.data.claimId,
        'completed',
      );
    case 'TransferFailed': {
      const fault = state.lastFault ?? { error: event.data.reason, transient: false, late: false };
      return withOutcome(state, event.data.claimId, { failed: fault });
    }
    // Of `invoicesFold`.
    case 'InvoiceIssued':
    case 'InvoicePaid':
    case 'InvoiceVoided':
    case 'InvoiceVoidRequested':
      return state;
  }
};

/** Whether the client has a subscription for the website at this payment provider. */
export const isSubscribed = ({ accounts }: BillingState, provider: string, clientId: string | undefined): boolean => {
  const account = clientId === undefined ? undefined : accounts.get(clientId);
  return account?.stage === 'attached' && account.provider === provider;
};

export const billingFold: StreamFold<BillingState, BillingEvent, { readonly websiteId: string }> = {
  name: 'billing',
  stream: billingStream,
  initialState: { accounts: new Map(), outcomes: new Map(), about: '', attempts: noAttempts, handovers: new Map() },
  evolve,
};
