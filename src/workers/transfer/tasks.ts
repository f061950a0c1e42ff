import { changeAccess, withdrawOvertakenOffers } from '../../commands/access/access.handlers.js';
import { customerDecider } from '../../commands/billing/customer.decider.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import { Refused, refusals } from '../../commands/refusal.js';
import { transferOwnership } from '../../commands/website/website.handlers.js';
import type { Engine } from '../../engine.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Customer, Payer, Payments } from '../../integrations/payments/port.js';
import { keyOfInvitation } from '../../events/access/access.stream.js';
import { openTransfers } from '../../projections/access/access.queries.js';
import { readClient } from '../../projections/client/client.queries.js';
import type { HeldLease } from '../leasedTask.js';
import { billingFold, type AttemptOutcome, type BillingTask, type Claim } from './transfer.process.js';
import { websiteFold } from '../../events/website/website.state.js';
import { accessFold, type InvitationState } from '../../events/access/access.state.js';
import { customerFold } from '../../events/billing/customer.state.js';
import type { Reader } from '../../projections/reader.js';

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
  const { engine, payments } = tools;
  const { websiteId, invitationId, claimId, clientId } = claim;
  const { priceId, lease, context } = attempt;
  const assertHeld = (): void => {
    lease.assertHeld();
  };
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Refused(refusals.transferNotFound());

  const completed = { type: 'RecordCompletion', claim } as const;
  // An earlier attempt did everything, but did not record it.
  if ((await stageOf(engine, claim)) === 'accepted') return completed;
  const { id: customerId } = await customerOf(tools, clientId, attempt);
  const offerPosition = await requireWanted(engine, claim);
  await lease.record({ type: 'RecordRequest', claim, provider: payments.provider, customerId });
  const { id: subscriptionId } =
    (await payments.findSubscription(customerId, websiteId)) ??
    (await payments.createSubscription({ customerId, clientId, websiteId, priceId, claim: invitationId }, assertHeld));
  await lease.record({ type: 'RecordSubscription', claim, subscriptionId });

  assertHeld();
  // The claim's id is the command id, so that the website is transferred once, however often the
  // claim is carried out.
  await transferOwnership(engine, { websiteId, clientId, offerPosition }, { ...context(), commandId: claimId });
  await withdrawOtherOffers(tools, claim, attempt);
  await changeAccess(engine, { type: 'AcceptTransfer', ...key, invitationId, claimId }, context());
  return completed;
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
  { engine, payments }: Tools,
  clientId: string,
  { websiteId, lease }: BillingAttempt,
): Promise<AttemptOutcome> => {
  const { state } = await engine.state(billingFold, { websiteId });
  const customerId = state.accounts.get(clientId)?.customerId;
  if (customerId === undefined) return { type: 'RecordEnd', clientId };
  for (let ended = 0; ended < MAX_ENDED; ended += 1) {
    const subscription = await payments.findSubscription(customerId, websiteId);
    if (subscription === null) return { type: 'RecordEnd', clientId };
    lease.assertHeld();
    await payments.endSubscription(subscription.id);
  }
  const { provider } = payments;
  throw new ProviderFault({ provider, message: 'What was ended is still there', transient: true });
};
