import { changeAccess, withdrawOvertakenOffers } from '../../commands/access/access.handlers.js';
import { customerDecider } from '../../commands/billing/customer.decider.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import { Refused, refusals } from '../../commands/refusal.js';
import { transferOwnership } from '../../commands/website/website.handlers.js';
import type { Engine } from '../../engine.js';
import { accessFold, type InvitationState } from '../../events/access/access.state.js';
import { keyOfInvitation } from '../../events/access/access.stream.js';
import { billingFold, isSubscribed, type Account, type BillingTask, type Claim } from '../../events/billing/billing.state.js';
import { customerFold } from '../../events/billing/customer.state.js';
import { drawUpHandover } from '../../events/billing/handover.js';
import { websiteFold } from '../../events/website/website.state.js';
import { ProviderFault } from '../../integrations/fault.js';
import {
  attachmentIssues,
  type AttachmentRefusal,
  type Customer,
  type Payer,
  type Payments,
  type Price,
} from '../../integrations/payments/port.js';
import { isoTime } from '../../platform/clock.js';
import { openTransfers } from '../../projections/access/access.queries.js';
import { readHandoverFacts } from '../../projections/billing/handover.queries.js';
import { readClient } from '../../projections/client/client.queries.js';
import type { Reader } from '../../projections/reader.js';
import type { HeldLease } from '../heldLease.js';
import type { AttemptOutcome, HandoverDraft } from './transfer.commands.js';

interface Tools {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly payments: Payments;
}

interface BillingAttempt {
  readonly websiteId: string;
  /** Of the claim. */
  readonly priceId: string | undefined;
  readonly lease: HeldLease<AttemptOutcome>;
  /** A new command each time. */
  readonly context: () => CommandContext;
}

/** Does what is left of the task, and returns the outcome to record. */
export const carryOut = (tools: Tools, task: BillingTask, attempt: BillingAttempt): Promise<AttemptOutcome> =>
  task.kind === 'claim' ? carryOutClaim(tools, task.claim, attempt) : endSubscriptions(tools, task.clientId, attempt);

/**
 * Billing comes first, so that the new owner is billed. Every step checks whether it is done
 * already.
 */
const carryOutClaim = async (tools: Tools, claim: Claim, attempt: BillingAttempt): Promise<AttemptOutcome> => {
  const { engine } = tools;
  const { websiteId, invitationId, claimId, clientId } = claim;
  const { lease, context } = attempt;
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Refused(refusals.transferNotFound());

  const completed = { type: 'RecordCompletion', claim } as const;
  // An earlier attempt did everything, but did not record it.
  if ((await stageOf(engine, claim)) === 'accepted') return completed;
  const existing = (await offerOf(engine, claim))?.subscriptionId;
  const { offerPosition, customerId } =
    existing === undefined ? await subscribe(tools, claim, attempt) : await attach(tools, claim, existing, attempt);

  lease.assertHeld();
  // The claim's id is the command id, so that the website is transferred once, however often the
  // claim is carried out.
  await transferOwnership(engine, { websiteId, clientId, offerPosition }, { ...context(), commandId: claimId });
  await lease.record({ type: 'RecordOwnership', claim });
  if (existing !== undefined) await recordCustomer(tools, { clientId, customerId }, attempt);
  await withdrawOtherOffers(tools, claim, attempt);
  await changeAccess(engine, { type: 'AcceptTransfer', ...key, invitationId, claimId }, context());
  return completed;
};

interface Billed {
  readonly customerId: string;
  /** Where in the log the offer was sent. */
  readonly offerPosition: bigint;
}

/** The claimant's subscription: the one that there is, or a new one. */
const subscribe = async (tools: Tools, claim: Claim, attempt: BillingAttempt): Promise<Billed> => {
  const { engine, payments } = tools;
  const { websiteId, invitationId, clientId } = claim;
  const { lease } = attempt;
  const { id: customerId } = await customerOf(tools, clientId, attempt);
  const offerPosition = await requireWanted(engine, claim);
  const price = await priceOf(tools, claim, attempt.priceId);
  const handover = await draftHandover(tools, claim, { price });
  await unmarkLeft(tools, claim, lease);
  await lease.record({ type: 'RecordRequest', claim, provider: payments.provider, customerId, handover });
  const { id: priceId } = price;
  const left = await payments.findSubscription(customerId, websiteId);
  const found = left?.priceId === priceId ? left : null;
  // An earlier claim, at another price, has left it.
  if (left !== null && found === null) await endSubscriptionsOf(tools, customerId, websiteId, lease, []);
  const request = { customerId, clientId, websiteId, priceId, claim: invitationId };
  const { id: subscriptionId } =
    found ??
    (await payments.createSubscription(request, () => {
      lease.assertHeld();
    }));
  await lease.record({ type: 'RecordSubscription', claim, subscriptionId });
  return { customerId, offerPosition };
};

/** The subscription that the offer names becomes the claimant's for the website. */
const attach = async (tools: Tools, claim: Claim, subscriptionId: string, { lease }: BillingAttempt): Promise<Billed> => {
  const { engine, payments } = tools;
  const { websiteId, clientId } = claim;
  const { provider } = payments;
  const request = { subscriptionId, websiteId, clientId };
  const refuse = (why: AttachmentRefusal): never => {
    throw new Refused(refusals.transferFailed(`Subscription ${subscriptionId} ${attachmentIssues[why]}`));
  };
  const checked = await payments.checkAttachment(request);
  if (typeof checked === 'string') return refuse(checked);
  const { customerId } = checked;
  const offerPosition = await requireWanted(engine, claim);
  const before = await unmarkLeft(tools, claim, lease, subscriptionId);
  // What an earlier claim without this subscription has left would be billed beside it.
  if (before !== undefined)
    await endSubscriptionsOf(tools, before.customerId, websiteId, lease, [subscriptionId, before.existing]);
  const handover = await draftHandover(tools, claim, { subscriptionId });
  await lease.record({ type: 'RecordAttachment', claim, provider, customerId, subscriptionId, handover });
  const attached = await payments.attachSubscription(request, () => {
    lease.assertHeld();
  });
  if (attached !== 'attached') return refuse(attached);
  await lease.record({ type: 'RecordSubscription', claim, subscriptionId });
  return { customerId, offerPosition };
};

/**
 * Takes the mark off a subscription that an earlier claim has left with it: it was there before, and goes on.
 * @param kept that of the claim
 * @returns what earlier claims have left
 */
const unmarkLeft = async (
  { engine, payments }: Tools,
  { websiteId, clientId }: Claim,
  lease: BillingAttempt['lease'],
  kept?: string,
): Promise<Account | undefined> => {
  const left = (await engine.state(billingFold, { websiteId })).state.accounts.get(clientId);
  if (left === undefined || left.stage === 'ended' || left.provider !== payments.provider) return undefined;
  const { existing: subscriptionId } = left;
  if (subscriptionId !== undefined && subscriptionId !== kept) {
    lease.assertHeld();
    await payments.detachSubscription({ subscriptionId, websiteId, clientId });
  }
  return left;
};

/** What the claimant is to pay: as the claim has recorded it, before that as of now. */
const priceOf = async (
  { engine, payments }: Tools,
  { websiteId, claimId }: Claim,
  priceId: string | undefined,
): Promise<Price> => {
  const { handovers } = (await engine.state(billingFold, { websiteId })).state;
  const recorded = handovers.get(claimId)?.priceId;
  if (recorded !== undefined) return { id: recorded };
  // What the provider does not know it refuses when the subscription is created.
  return (await payments.readPrice(priceId)) ?? { ...(priceId !== undefined && { id: priceId }) };
};

/** What the hand-over comes to; `undefined` when an earlier attempt has recorded it. */
const draftHandover = async (
  { engine, reader, payments }: Tools,
  { websiteId, invitationId, claimId, clientId: recipientId }: Claim,
  { price, subscriptionId }: { readonly price?: Price; readonly subscriptionId?: string },
): Promise<HandoverDraft | undefined> => {
  const { state: billing } = await engine.state(billingFold, { websiteId });
  if (billing.handovers.has(claimId)) return undefined;
  const { state: website } = await engine.state(websiteFold, { websiteId });
  const ownerId = website.stage === 'none' || website.clientId === recipientId ? undefined : website.clientId;
  const isOwnerSubscribed = isSubscribed(billing, payments.provider, ownerId);
  const known = { isOwnerSubscribed, isAttached: subscriptionId !== undefined, now: isoTime(engine.clock.now()) };
  const facts = await readHandoverFacts(reader, { websiteId, invitationId, recipientId }, known);
  const { id: priceId, ...cost } = price ?? {};
  return {
    ...drawUpHandover(facts),
    payer: isOwnerSubscribed ? 'owner' : 'agency',
    ...(ownerId !== undefined && { previousOwnerId: ownerId }),
    ...(priceId !== undefined && { priceId }),
    ...(price !== undefined && { price: cost }),
    ...(subscriptionId !== undefined && { subscriptionId }),
  };
};

/** The client is this customer from now on, here and at the payment provider. */
const recordCustomer = async (
  { engine, payments }: Tools,
  { clientId, customerId }: { readonly clientId: string; readonly customerId: string },
  { lease, context }: BillingAttempt,
): Promise<void> => {
  const { provider } = payments;
  lease.assertHeld();
  await payments.markCustomer(customerId, clientId);
  await engine.handle(customerDecider, { type: 'AttachCustomer', clientId, provider, customerId }, context());
};

/** Withdraws the website's offers to others. */
const withdrawOtherOffers = async (
  { engine, reader }: Tools,
  { websiteId, invitationId }: Claim,
  { lease, context }: BillingAttempt,
): Promise<void> => {
  const others = (await openTransfers(reader, websiteId)).filter((id) => id !== invitationId);
  lease.assertHeld();
  await withdrawOvertakenOffers(engine, websiteId, others, context());
};

/** The offer, while the claim is its last one. */
const offerOf = async (engine: Engine, { invitationId, claimId }: Claim): Promise<InvitationState | undefined> => {
  const key = keyOfInvitation(invitationId);
  const invitation = key === null ? undefined : (await engine.state(accessFold, key)).state.invitations.get(invitationId);
  return invitation?.claimId === claimId ? invitation : undefined;
};

/** The stage of the claim's offer; `undefined` when it has no claim, or another one. */
export const stageOf = async (engine: Engine, claim: Claim): Promise<InvitationState['stage'] | undefined> =>
  (await offerOf(engine, claim))?.stage;

const customerOf = async (
  { engine, reader, payments }: Tools,
  clientId: string,
  { lease, context }: BillingAttempt,
): Promise<Customer> => {
  const { provider } = payments;
  const found = await readClient(reader, clientId);
  if (found === null) throw new Refused(refusals.clientNotFound(clientId));
  const { email, name } = found.client;
  const customerId = (await engine.state(customerFold, { clientId })).state.customers.get(provider);
  const payer: Payer = { clientId, email, name, customerId };
  const customer =
    (await payments.findCustomer(payer)) ??
    (await payments.createCustomer(payer, () => {
      lease.assertHeld();
    }));
  await engine.handle(customerDecider, { type: 'AttachCustomer', clientId, provider, customerId: customer.id }, context());
  return customer;
};

/**
 * @returns where in the log the offer was sent
 * @throws Refused when the claim was withdrawn, an owner assigned or the website archived meanwhile:
 *   it must not be billed
 */
const requireWanted = async (engine: Engine, claim: Claim): Promise<bigint> => {
  const { websiteId, clientId } = claim;
  const offer = await offerOf(engine, claim);
  if (offer?.stage !== 'claimed') throw new Refused(refusals.transferNotFound());
  const { sentPosition } = offer;
  const { state: website } = await engine.state(websiteFold, { websiteId });
  if (website.stage === 'none') return sentPosition;
  if (website.archived) throw new Refused(refusals.websiteArchived(websiteId));
  // An earlier attempt may have made the claimant the owner.
  if (website.clientId !== clientId && sentPosition < website.ownerPosition) throw new Refused(refusals.transferNotFound());
  return sentPosition;
};

/** There is one subscription; more only if somebody created them by hand. */
const MAX_ENDED = 10;

/**
 * Ends all subscriptions of the client for the website, also unrecorded ones: the answer to their
 * creation may have been lost.
 */
const endSubscriptions = async (
  tools: Tools,
  clientId: string,
  { websiteId, lease }: BillingAttempt,
): Promise<AttemptOutcome> => {
  const { engine, payments } = tools;
  const { state } = await engine.state(billingFold, { websiteId });
  const account = state.accounts.get(clientId);
  if (account?.existing !== undefined) {
    lease.assertHeld();
    await payments.detachSubscription({ subscriptionId: account.existing, websiteId, clientId });
  }
  if (account !== undefined) await endSubscriptionsOf(tools, account.customerId, websiteId, lease, [account.existing]);
  return { type: 'RecordEnd', clientId };
};

/** @param except subscriptions that go on, also where their marks could not be taken off */
const endSubscriptionsOf = async (
  { payments }: Tools,
  customerId: string,
  websiteId: string,
  lease: HeldLease<AttemptOutcome>,
  except: readonly (string | undefined)[],
): Promise<void> => {
  const passedOver = except.filter((id) => id !== undefined);
  for (let ended = 0; ended < MAX_ENDED; ended += 1) {
    const subscription = await payments.findSubscription(customerId, websiteId, passedOver);
    if (subscription === null) return;
    lease.assertHeld();
    await payments.endSubscription(subscription.id);
  }
  const { provider } = payments;
  throw new ProviderFault({ provider, message: 'What was ended is still there', transient: true });
};
