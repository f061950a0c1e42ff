import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { BillingEvent } from '../../events/billing/billing.events.js';
import { movingItems, type Ledger, type LedgerItems, type MovingItem } from '../../events/billing/billing.ledger.js';
import type { Recorded } from '../../events/envelope.js';
import { billingStream } from '../../events/billing/billing.stream.js';
import { withEntry, type StreamFold } from '../../events/fold.js';
import {
  attemptFailed,
  attemptStarted,
  decideFailure,
  decideRenewal,
  decideStart,
  isUnderWay,
  leaseRenewed,
  noAttempts,
  retryFor,
  type Attempts,
  type Fault,
  type RecordFailure,
  type RenewLease,
  type RetryPolicy,
  type StartAttempt,
} from '../lease.js';

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
  readonly ledgers: ReadonlyMap<string, Ledger>;
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
interface OfLedger {
  readonly ledger?: LedgerDraft | undefined;
}

export type LedgerDraft = LedgerItems & Pick<Ledger, 'payer' | 'previousOwnerId' | 'priceId' | 'subscriptionId'>;

/** The outcome of an attempt, so far or final. */
export type AttemptOutcome =
  | (OfLedger & { readonly type: 'RecordRequest'; readonly claim: Claim; readonly provider: string; readonly customerId: string })
  | (OfLedger & {
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
  | (RecordFailure & { readonly task: BillingTask; readonly fault: Fault & BillingFault });

type Command<Type extends BillingCommand['type']> = Extract<BillingCommand, { type: Type }>;

/** The claimant waits: a claim that fails for longer than this is over, and can be made again. */
const CLAIM_RETRY_MS = 60_000;
const MAX_END_PAUSE_MS = 900_000;

const aboutOf = (task: BillingTask): string => (task.kind === 'claim' ? task.claim.claimId : `end ${task.clientId}`);

const isEnd = (about: string): boolean => about.startsWith('end ');

/**
 * The attempts at a task. A lease on the website blocks every task; a pause blocks only the task
 * that it belongs to.
 */
export const attemptsAt = ({ about, attempts }: BillingState, task: BillingTask): Attempts => {
  if (about === aboutOf(task)) return attempts;
  const { attempt, lease } = attempts;
  return { ...noAttempts, attempt, ...(lease !== undefined && { lease }) };
};

const over = (state: BillingState): BillingState => {
  const { lastFault: _, ...others } = state;
  return { ...others, about: '', attempts: { ...noAttempts, attempt: state.attempts.attempt } };
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

const withLedger = (state: BillingState, claimId: string, changes: Partial<Ledger>): BillingState => {
  const ledger = state.ledgers.get(claimId) ?? noLedger;
  return { ...state, ledgers: withEntry(state.ledgers, claimId, { ...ledger, ...changes }) };
};

/** Of a claim that was carried out before ledgers were drawn up. */
const noLedger: Ledger = { items: { moves: [], stays: [], missing: [] }, drawnUpAt: '', payer: 'agency', done: new Map() };

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
      const { moves, stays, missing, payer, previousOwnerId, priceId, subscriptionId, invitationId, clientId } = event.data;
      return withLedger(state, event.data.claimId, {
        claim: { invitationId, newOwnerId: clientId },
        items: { moves, stays, missing },
        drawnUpAt: event.metadata.at,
        payer,
        ...(previousOwnerId !== undefined && { previousOwnerId }),
        ...(priceId !== undefined && { priceId }),
        ...(subscriptionId !== undefined && { subscriptionId }),
      });
    }
    case 'TransferItemsDone': {
      const { claimId, items } = event.data;
      const done = new Map(state.ledgers.get(claimId)?.done);
      for (const item of items) done.set(item, event.metadata.at);
      return withLedger(state, claimId, { done });
    }
    case 'TransferDeclined':
      return withOutcome(state, event.data.claimId, 'declined');
    case 'TransferCompleted':
      return withOutcome(
        withLedger(asOwn(state, event.data.clientId), event.data.claimId, { completedAt: event.metadata.at }),
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

const isOtherUnderWay = ({ claimId }: BillingState, claim: Claim): boolean => claimId !== undefined && claimId !== claim.claimId;

const start = (command: Command<'StartAttempt'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, task } = command;
  // The task was loaded before it ended.
  if (task.kind === 'claim' && (state.outcomes.has(task.claim.claimId) || isOtherUnderWay(state, task.claim))) return [];
  if (task.kind === 'end' && (state.accounts.get(task.clientId)?.stage ?? 'ended') === 'ended') return [];
  return decideStart(attemptsAt(state, task), command, (lease) => [
    { type: 'BillingAttemptStarted', data: { websiteId, about: aboutOf(task), ...lease } },
  ]);
};

const declineClaim = ({ claim, isWithdrawn }: Command<'DeclineClaim'>, state: BillingState): readonly BillingEvent[] => {
  const isOver = state.outcomes.has(claim.claimId) || state.claimId === claim.claimId;
  return !isOver && (isWithdrawn || isOtherUnderWay(state, claim)) ? [{ type: 'TransferDeclined', data: claim }] : [];
};

const renewLease = (command: Command<'RenewLease'>, { attempts }: BillingState): readonly BillingEvent[] =>
  decideRenewal(attempts, command, (lease) => [
    { type: 'BillingLeaseRenewed', data: { websiteId: command.websiteId, ...lease } },
  ]);

/** The ledger of the claim, unless it has one. */
const drawnUp = ({ claim, ledger }: OfLedger & { readonly claim: Claim }, state: BillingState): readonly BillingEvent[] =>
  ledger === undefined || state.ledgers.has(claim.claimId)
    ? []
    : [{ type: 'TransferLedgerDrawnUp', data: { ...claim, ...ledger } }];

/** The tick of those items that the claim's ledger has and that are not done yet. */
const ticked = (claim: Claim, items: readonly MovingItem[], { ledgers }: BillingState): readonly BillingEvent[] => {
  const ledger = ledgers.get(claim.claimId);
  const open = items.filter((item) => ledger?.done.has(item) === false && ledger.items.moves.some((one) => one.item === item));
  return open.length === 0 ? [] : [{ type: 'TransferItemsDone', data: { ...claim, items: open } }];
};

/** The end of a previous owner's subscription is the last item of the claim that it was drawn up in. */
const tickedEnd = (clientId: string, { websiteId, state }: { readonly websiteId: string; readonly state: BillingState }) =>
  [...state.ledgers].flatMap(([claimId, { previousOwnerId, claim, completedAt }]) => {
    if (previousOwnerId !== clientId || claim === undefined || completedAt === undefined) return [];
    const { invitationId, newOwnerId } = claim;
    return ticked({ websiteId, invitationId, claimId, clientId: newOwnerId }, ['previous_subscription'], state);
  });

const recordRequest = (command: Command<'RecordRequest'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, provider, customerId } = command;
  const { clientId, claimId } = command.claim;
  const account = state.accounts.get(clientId);
  const isOpen = account !== undefined && account.stage !== 'ended';
  const ledger = drawnUp(command, state);
  if (isOpen && account.provider === provider && account.customerId === customerId) return ledger;
  return [{ type: 'SubscriptionRequested', data: { websiteId, clientId, provider, customerId, claimId } }, ...ledger];
};

const recordAttachment = (command: Command<'RecordAttachment'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, provider, customerId, subscriptionId } = command;
  const { clientId, claimId } = command.claim;
  const account = state.accounts.get(clientId);
  const isOpen = account !== undefined && account.stage !== 'ended' && account.provider === provider;
  const ledger = drawnUp(command, state);
  if (isOpen && (account.existing ?? account.subscriptionId) === subscriptionId) return ledger;
  return [
    { type: 'AttachmentRequested', data: { websiteId, clientId, provider, customerId, claimId, subscriptionId } },
    ...ledger,
  ];
};

const recordSubscription = (command: Command<'RecordSubscription'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, subscriptionId } = command;
  const { clientId, claimId } = command.claim;
  const account = state.accounts.get(clientId);
  if (account === undefined) return [];
  const done = ticked(command.claim, ['billing_account', 'subscription'], state);
  if (account.subscriptionId === subscriptionId) return done;
  const { provider, customerId } = account;
  return [
    { type: 'SubscriptionAttached', data: { websiteId, clientId, provider, customerId, claimId, subscriptionId } },
    ...done,
  ];
};

const recordEnd = ({ websiteId, clientId }: Command<'RecordEnd'>, state: BillingState): readonly BillingEvent[] => {
  const account = state.accounts.get(clientId);
  if (account === undefined || account.stage === 'ended') return [];
  const { provider, customerId, existing } = account;
  const of = { websiteId, clientId, provider, customerId };
  if (existing !== undefined) return [{ type: 'SubscriptionDetached', data: { ...of, subscriptionId: existing } }];
  return [{ type: 'SubscriptionEnded', data: of }, ...tickedEnd(clientId, { websiteId, state })];
};

/**
 * Ending a subscription is never given up: nobody may be billed for a website that they do not own.
 */
const retryAfter =
  (task: BillingTask): RetryPolicy =>
  (attempts, command) => {
    const { fault, jitter, at } = command;
    if (task.kind === 'claim') return retryFor(CLAIM_RETRY_MS)(attempts, command);
    const pause = Math.min(MAX_END_PAUSE_MS, 1_000 * 2 ** Math.min(attempts.failures, 20)) * (0.5 + jitter / 2);
    return new Date(Date.parse(at) + Math.round(Math.max(pause, fault.retryAfterMs))).toISOString();
  };

const recordFailure = (command: Command<'RecordFailure'>, { attempts }: BillingState): readonly BillingEvent[] => {
  const { websiteId, task, fault } = command;
  const { provider, late } = fault;
  return decideFailure(
    attempts,
    command,
    (failure, isGivenUp) => {
      const data = { websiteId, ...failure, late, ...(provider !== undefined && { provider }) };
      const failed: BillingEvent = { type: 'BillingAttemptFailed', data };
      if (!isGivenUp || task.kind === 'end') return [failed];
      return [failed, { type: 'TransferFailed', data: { ...task.claim, reason: failure.error } }];
    },
    retryAfter(task),
  );
};

const decide = (command: BillingCommand, state: BillingState): readonly BillingEvent[] => {
  if (command.type === 'StartAttempt') return start(command, state);
  if (command.type === 'DeclineClaim') return declineClaim(command, state);
  if (!isUnderWay(state.attempts, command.attempt)) return [];
  switch (command.type) {
    case 'RenewLease':
      return renewLease(command, state);
    case 'RecordRequest':
      return recordRequest(command, state);
    case 'RecordAttachment':
      return recordAttachment(command, state);
    case 'RecordSubscription':
      return recordSubscription(command, state);
    case 'RecordEnd':
      return recordEnd(command, state);
    case 'RecordOwnership':
      return ticked(command.claim, ['ownership', 'billing_portal', 'own_link'], state);
    case 'RecordCompletion': {
      // The end of what the previous owner pays comes after it.
      const items = movingItems.filter((item) => item !== 'previous_subscription');
      return [...ticked(command.claim, items, state), { type: 'TransferCompleted', data: command.claim }];
    }
    case 'RecordFailure':
      return recordFailure(command, state);
    default:
      return command satisfies never;
  }
};

export const billingFold: StreamFold<BillingState, BillingEvent, { readonly websiteId: string }> = {
  name: 'billing',
  stream: billingStream,
  initialState: { accounts: new Map(), outcomes: new Map(), about: '', attempts: noAttempts, ledgers: new Map() },
  evolve,
};

/**
 * Stream `billing-<websiteId>`: the process that gives the owner of a website a subscription and
 * ends everybody else's. The stream is the lock: the worker that appends the start of an attempt
 * acts, one at a time for each website.
 */
export const billingProcess: Decider<BillingState, BillingCommand, BillingEvent> = { ...billingFold, decide };
