import { changeAccess } from '../../commands/access/access.handlers.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { AccessEvent } from '../../events/access/access.events.js';
import { accessStream, keyOfInvitation } from '../../events/access/access.stream.js';
import type { Attempts } from '../../events/attempts.js';
import { attemptsAt, billingFold, type BillingState, type BillingTask, type Claim } from '../../events/billing/billing.state.js';
import type { Recorded } from '../../events/envelope.js';
import { websiteFold } from '../../events/website/website.state.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Payments } from '../../integrations/payments/port.js';
import type { Reader } from '../../projections/reader.js';
import { createContextOf } from '../contextOf.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import { faultOf } from '../taskFault.js';
import type { Worker } from '../worker.js';
import { carryOut, stageOf } from './tasks.js';
import type { AttemptOutcome } from './transfer.commands.js';
import { billingProcess } from './transfer.process.js';

type Claimed = Recorded<Extract<AccessEvent, { type: 'TransferClaimed' }>>;

interface ClaimedOffer {
  readonly claim: Claim;
  readonly priceId: string | undefined;
}

interface OpenTask {
  readonly task: BillingTask;
  readonly priceId: string | undefined;
  readonly attempts: Attempts;
}

/** For one attempt, in which the provider is asked some six times. */
const TIMEOUT_MS = 120_000;

/**
 * Carries out claims of transfers: customer, subscription, ownership, in this order, so that every
 * owner is billed. Ends the subscription of a client who is no longer the owner, or never became
 * it. Any number of these may run on the same stores.
 */
export const createTransferWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  payments: Payments;
}): Worker => {
  const { engine, reader, createReactor, payments } = parts;

  const billingOf = async (websiteId: string): Promise<BillingState> => (await engine.state(billingFold, { websiteId })).state;

  const ownerOf = async (websiteId: string): Promise<string | undefined> => {
    const { state } = await engine.state(websiteFold, { websiteId });
    return state.stage === 'none' ? undefined : state.clientId;
  };

  const release = async ({ invitationId, claimId }: Claim, context: () => CommandContext): Promise<void> => {
    const key = keyOfInvitation(invitationId);
    if (key !== null) await changeAccess(engine, { type: 'ReleaseTransfer', ...key, invitationId, claimId }, context());
  };

  /**
   * The claim, while it is open. If its offer is withdrawn after it began, it stays open until its
   * next attempt fails.
   */
  const openClaim = async ({ claim, priceId }: ClaimedOffer, context: () => CommandContext): Promise<OpenTask | null> => {
    const { websiteId, claimId } = claim;
    const before = await billingOf(websiteId);
    const isStanding = (await stageOf(engine, claim)) === 'claimed';
    const isOtherUnderWay = before.claimId !== undefined && before.claimId !== claimId;
    if (isOtherUnderWay || !isStanding) {
      const decline = { type: 'DeclineClaim', websiteId, claim, isWithdrawn: !isStanding } as const;
      await engine.handle(billingProcess, decline, context());
    }
    const billing = await billingOf(websiteId);
    const task = { kind: 'claim', claim } as const;
    if (!billing.outcomes.has(claimId)) return { task, priceId, attempts: attemptsAt(billing, task) };
    if (isStanding) await release(claim, context);
    return null;
  };

  /** What is left to do for a website: the claim first. */
  const load = async (
    websiteId: string,
    claimed: ClaimedOffer | null,
    context: () => CommandContext,
  ): Promise<OpenTask | null> => {
    const claim = claimed === null ? null : await openClaim(claimed, context);
    if (claim !== null) return claim;
    // Billing is read first: an attempt begins only if no other has begun since, so everything read
    // later is current.
    const billing = await billingOf(websiteId);
    // The claimant may have a subscription and not own the website yet. The reaction to that claim
    // ends what is left.
    if (billing.claimId !== undefined) return null;
    const ownerId = await ownerOf(websiteId);
    // No claim is under way: what was requested and never attached is left of one that failed, also the owner's,
    // to whom the website was assigned meanwhile.
    const other = [...billing.accounts].find(
      ([clientId, { stage, provider }]) =>
        stage !== 'ended' && provider === payments.provider && (clientId !== ownerId || stage === 'requested'),
    );
    if (other === undefined) return null;
    const task = { kind: 'end', clientId: other[0] } as const;
    return { task, priceId: undefined, attempts: attemptsAt(billing, task) };
  };

  const billingTask = (
    websiteId: string,
    claimed: ClaimedOffer | null,
    context: () => CommandContext,
  ): LeasedTask<OpenTask, AttemptOutcome> => ({
    // A worker id for each reaction: a worker's own lease does not block it, so that reactions with
    // the same id could act on one website at once.
    worker: engine.ids.commandId(),
    logger: ({ task: { kind } }) => engine.logger.child({ worker: 'transfer', websiteId, task: kind }),
    load: () => load(websiteId, claimed, context),
    handle: async (command, open) => {
      const ofTask = { websiteId, task: open.task };
      const { state } = await engine.handle(billingProcess, { ...ofTask, ...command }, context());
      return { ...open, attempts: attemptsAt(state, open.task) };
    },
    timeoutMs: () => TIMEOUT_MS,
    execute: ({ task, priceId }, lease) => carryOut({ engine, reader, payments }, task, { websiteId, priceId, lease, context }),
    failure: {
      message: 'a transfer could not be carried out, or a subscription not be ended',
      outcome: async (error, jitter, { task }) => {
        const fault = { ...faultOf(error), ...blameFor(error, payments.provider) };
        const isOwner = task.kind === 'claim' && (await ownerOf(websiteId)) === task.claim.clientId;
        return { type: 'RecordFailure', task, fault, isOwner, jitter };
      },
    },
  });

  const contextOf = createContextOf(engine, 'transfer');

  const settle = async (
    event: Recorded<{ type: string; data: { websiteId: string } }>,
    claimed: ClaimedOffer | null,
    reaction: ReactionContext,
  ): Promise<void> => {
    const task = billingTask(event.data.websiteId, claimed, () => contextOf(event));
    await runLeasedTask(engine, reaction, task);
  };

  return createReactor({
    name: 'transfer',
    streams: [accessStream, websiteStream],
    on: {
      TransferClaimed: (event, reaction) => settle(event, offerOf(event), reaction),
      WebsiteOwnerAssigned: (event, reaction) => settle(event, null, reaction),
      WebsiteOwnerRemoved: (event, reaction) => settle(event, null, reaction),
    },
    key: ({ id }) => id,
  });
};

const offerOf = ({ id, data }: Claimed): ClaimedOffer => {
  const { websiteId, invitationId, claimedBy, priceId } = data;
  return { claim: { websiteId, invitationId, claimId: id, clientId: claimedBy }, priceId };
};

const blameFor = (error: unknown, provider: string): { provider?: string; late: boolean } => {
  if (!(error instanceof ProviderFault)) return { late: false };
  const isOurs = error.provider === provider;
  // The attempt timed out while it waited for the provider.
  return { provider, late: !isOurs || (error.cause instanceof Error && error.cause.name === 'TimeoutError') };
};
