import type { Decider } from '../../commands/decider.js';
import type { BillingEvent } from '../../events/billing/billing.events.js';
import { movingItems, type MovingItem } from '../../events/billing/handover.js';
import { isUnderWay } from '../../events/attempts.js';
import { decideFailure, decideRenewal, decideStart, retryAlways, retryFor, type RetryPolicy } from '../lease.js';
import type { BillingCommand, OfHandover } from './transfer.commands.js';
import { aboutOf, attemptsAt, billingFold, type BillingState, type Claim } from '../../events/billing/billing.state.js';

type Command<Type extends BillingCommand['type']> = Extract<BillingCommand, { type: Type }>;

/** The claimant waits: a claim that fails for longer than this is over, and can be made again. */
const retryClaim = retryFor(60_000);
const retryUntilDone = retryAlways(900_000);

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

/** The record of the claim, unless it has one. */
const drawnUp = ({ claim, handover }: OfHandover & { readonly claim: Claim }, state: BillingState): readonly BillingEvent[] =>
  handover === undefined || state.handovers.has(claim.claimId)
    ? []
    : [{ type: 'TransferLedgerDrawnUp', data: { ...claim, ...handover } }];

/** The tick of those items that the claim has recorded and that are not done yet. */
const ticked = (claim: Claim, items: readonly MovingItem[], { handovers }: BillingState): readonly BillingEvent[] => {
  const handover = handovers.get(claim.claimId);
  const open = items.filter(
    (item) => handover?.done.has(item) === false && handover.items.moves.some((one) => one.item === item),
  );
  return open.length === 0 ? [] : [{ type: 'TransferItemsDone', data: { ...claim, items: open } }];
};

/** The end of a previous owner's subscription is the last item of the claim that it was drawn up in. */
const tickedEnd = (clientId: string, { websiteId, state }: { readonly websiteId: string; readonly state: BillingState }) =>
  [...state.handovers].flatMap(([claimId, { previousOwnerId, claim, completedAt }]) => {
    if (previousOwnerId !== clientId || claim === undefined || completedAt === undefined) return [];
    const { invitationId, newOwnerId } = claim;
    return ticked({ websiteId, invitationId, claimId, clientId: newOwnerId }, ['previous_subscription'], state);
  });

const recordRequest = (command: Command<'RecordRequest'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, provider, customerId } = command;
  const { clientId, claimId } = command.claim;
  const account = state.accounts.get(clientId);
  const isOpen = account !== undefined && account.stage !== 'ended';
  const handover = drawnUp(command, state);
  if (isOpen && account.provider === provider && account.customerId === customerId) return handover;
  return [{ type: 'SubscriptionRequested', data: { websiteId, clientId, provider, customerId, claimId } }, ...handover];
};

const recordAttachment = (command: Command<'RecordAttachment'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, provider, customerId, subscriptionId } = command;
  const { clientId, claimId } = command.claim;
  const account = state.accounts.get(clientId);
  const isOpen = account !== undefined && account.stage !== 'ended' && account.provider === provider;
  const handover = drawnUp(command, state);
  if (isOpen && (account.existing ?? account.subscriptionId) === subscriptionId) return handover;
  return [
    { type: 'AttachmentRequested', data: { websiteId, clientId, provider, customerId, claimId, subscriptionId } },
    ...handover,
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
 * Ending a subscription is never given up: nobody may be billed for a website that they do not own. A claim whose
 * claimant is the owner by now is not given up for a fault either, because only its completion makes the subscription
 * theirs; a refusal ends it. Whether they are the owner is read from the website's stream: the items are ticked later.
 */
const retryOf = (
  { task, isOwner, fault: { provider, transient } }: Command<'RecordFailure'>,
  { accounts }: BillingState,
): RetryPolicy => {
  const isRefusal = provider === undefined && !transient;
  // Somebody may have assigned the website to the claimant by hand: this claim attaches their account first.
  const isMadeOwner = isOwner && task.kind === 'claim' && accounts.get(task.claim.clientId)?.stage === 'attached';
  return task.kind === 'claim' && (!isMadeOwner || isRefusal) ? retryClaim : retryUntilDone;
};

const recordFailure = (command: Command<'RecordFailure'>, state: BillingState): readonly BillingEvent[] => {
  const { websiteId, task, fault } = command;
  const { provider, late } = fault;
  return decideFailure(
    state.attempts,
    command,
    (failure, isGivenUp) => {
      const data = { websiteId, ...failure, late, ...(provider !== undefined && { provider }) };
      const failed: BillingEvent = { type: 'BillingAttemptFailed', data };
      if (!isGivenUp || task.kind === 'end') return [failed];
      return [failed, { type: 'TransferFailed', data: { ...task.claim, reason: failure.error } }];
    },
    retryOf(command, state),
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

/**
 * Stream `billing-<websiteId>`: the process that gives the owner of a website a subscription and
 * ends everybody else's. The stream is the lock: the worker that appends the start of an attempt
 * acts, one at a time for each website.
 */
export const billingProcess: Decider<BillingState, BillingCommand, BillingEvent> = { ...billingFold, decide };
