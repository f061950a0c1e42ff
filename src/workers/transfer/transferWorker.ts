import { changeAccess } from '../../commands/access/access.handlers.js';
import { claimUnderWay } from '../../commands/access/access.transfers.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Payments } from '../../integrations/payments/port.js';
import { faultOf, runLeasedTask, type LeasedTask } from '../leasedTask.js';
import type { Attempts } from '../lease.js';
import type { CreateReactor, ReactionContext } from '../reactions.js';
import type { Worker } from '../worker.js';
import {
  attemptsAt,
  billingFold,
  billingProcess,
  type AttemptOutcome,
  type BillingTask,
  type Claim,
} from './transfer.process.js';
import { carryOut } from './tasks.js';
import { accessStream } from '../../events/access/access.stream.js';
import { websiteFold } from '../../events/website/website.state.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { accessFold, type AccessState } from '../../events/access/access.state.js';
import type { Reader } from '../../projections/reader.js';

interface OpenTask {
  readonly task: BillingTask;
  readonly priceId: string | undefined;
  readonly attempts: Attempts;
}

const actor: Actor = { subject: 'transfer', role: 'system', via: 'worker' };
/** For one attempt, in which the provider is asked up to five times. */
const TIMEOUT_MS = 120_000;

/**
 * Carries out claims of transfers: customer, subscription, ownership, in this order, so that nobody
 * owns a website who is not billed for it. Ends the subscription of a client who is not the owner
 * any more, or never became it. Any number of these may run on the same stores.
 */
export const createTransferWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  payments: Payments;
}): Worker => {
  const { engine, reader, createReactor, payments } = parts;
  const release = async ({ websiteId, invitationId, claimId }: Claim, context: () => CommandContext): Promise<void> => {
    await changeAccess(engine, { type: 'ReleaseTransfer', websiteId, invitationId, claimId }, context());
  };

  /** What is left to do for a website: a claim first. */
  const load = async (websiteId: string, context: () => CommandContext): Promise<OpenTask | null> => {
    // In this order: an attempt begins only if no other has since billing was read, so that all else is no older than that.
    const { state: billing } = await engine.state(billingFold, { websiteId });
    const { state: access } = await engine.state(accessFold, { websiteId });
    const { state: website } = await engine.state(websiteFold, { websiteId });
    const claimed = claimOf(websiteId, access);
    const open = (task: BillingTask, priceId?: string): OpenTask => ({ task, priceId, attempts: attemptsAt(billing, task) });
    if (claimed !== null) {
      const { claim, priceId } = claimed;
      if (!billing.outcomes.has(claim.claimId)) return open({ kind: 'claim', claim }, priceId);
      await release(claim, context);
    }
    const ownerId = website.stage === 'none' ? undefined : website.clientId;
    const other = [...billing.accounts].find(
      ([clientId, { stage, provider }]) => stage !== 'ended' && provider === payments.provider && clientId !== ownerId,
    );
    return other === undefined ? null : open({ kind: 'end', clientId: other[0] });
  };

  const billingTask = (websiteId: string, context: () => CommandContext): LeasedTask<OpenTask, AttemptOutcome> => ({
    // Of its own: what keeps one event's work waiting need not keep another's.
    worker: engine.ids.commandId(),
    logger: ({ task: { kind } }) => engine.logger.child({ worker: 'transfer', websiteId, task: kind }),
    load: () => load(websiteId, context),
    handle: async (command, open) => {
      const ofTask = { websiteId, task: open.task };
      const { state } = await engine.handle(billingProcess, { ...ofTask, ...command }, context());
      return { ...open, attempts: attemptsAt(state, open.task) };
    },
    timeoutMs: () => TIMEOUT_MS,
    execute: ({ task, priceId }, lease) => carryOut({ engine, reader, payments }, task, { websiteId, priceId, lease, context }),
    failure: {
      message: 'a transfer could not be carried out, or a subscription not be ended',
      outcome: (error, jitter, { task }) => {
        const fault = { ...faultOf(error), ...blameFor(error, payments.provider) };
        return { type: 'RecordFailure', task, fault, jitter };
      },
    },
  });

  const settle = async (event: Recorded<{ type: string; data: { websiteId: string } }>, reaction: ReactionContext) => {
    const { id, data, metadata } = event;
    const { requestId, correlationId } = metadata;
    const context = (): CommandContext => ({
      commandId: engine.ids.commandId(),
      actor,
      requestId,
      correlationId,
      causationId: id,
    });
    await runLeasedTask(engine, reaction, billingTask(data.websiteId, context));
  };

  return createReactor({
    name: 'transfer',
    streams: [accessStream, websiteStream],
    on: { TransferClaimed: settle, WebsiteOwnerAssigned: settle, WebsiteOwnerRemoved: settle },
    key: ({ id }) => id,
  });
};

const claimOf = (websiteId: string, access: AccessState): { claim: Claim; priceId: string | undefined } | null => {
  const [invitationId, { claimId, clientId, priceId }] = claimUnderWay(access) ?? ['', {}];
  if (claimId === undefined || clientId === undefined) return null;
  return { claim: { websiteId, invitationId, claimId, clientId }, priceId };
};

const blameFor = (error: unknown, provider: string): { provider?: string; late: boolean } => {
  if (!(error instanceof ProviderFault)) return { late: false };
  const isOurs = error.provider === provider;
  // The attempt's own time is up: it was spent waiting for the provider.
  return { provider, late: !isOurs || (error.cause instanceof Error && error.cause.name === 'TimeoutError') };
};
