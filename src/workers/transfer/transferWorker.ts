import { changeAccess } from '../../commands/access/access.handlers.js';
import { claimUnderWay } from '../../commands/access/access.transfers.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Payments } from '../../integrations/payments/port.js';
import { leaseOf, type Attempts, type Token } from '../attempts.js';
import type { CreateReactor, Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt, type Held } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import {
  attemptsAt,
  billingFold,
  billingProcess,
  type BillingOutcome,
  type BillingState,
  type BillingTask,
  type Claim,
} from './transfer.process.js';
import { carryOut } from './tasks.js';
import { websiteFold } from '../../events/website/website.state.js';
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
 * Carries out claims of transfers: customer, subscription, ownership, in this order, so that nobody owns a website who is not billed for
 * it; and ends the subscription of whoever is not the owner any more, or never became it. Any number of these may run on the same
 * stores.
 */
export const createTransferWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  payments: Payments;
}): Worker => {
  const { engine, reader, createReactor, payments } = parts;
  const { clock, ids, random } = engine;
  const logger = engine.logger.child({ worker: 'transfer' });

  const billingOf = async (websiteId: string): Promise<BillingState> => (await engine.state(billingFold, { websiteId })).state;

  const release = async ({ websiteId, invitationId, claimId }: Claim, context: () => CommandContext): Promise<void> => {
    await changeAccess(engine, { type: 'ReleaseTransfer', websiteId, invitationId, claimId }, context());
  };

  /** What is left to do for a website: a claim first. */
  const look = async (websiteId: string, context: () => CommandContext): Promise<OpenTask | null> => {
    // In this order: an attempt begins only if no other has since billing was looked at, so that all else is no older than that.
    const billing = await billingOf(websiteId);
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

  const attempt = async (
    websiteId: string,
    worker: string,
    { task, priceId, attempts }: OpenTask,
    waitedOut: Token | undefined,
    context: () => CommandContext,
  ): Promise<void> => {
    const number = attempts.attempt + 1;
    const log = logger.child({ websiteId, task: task.kind, attempt: number });
    const tell = async (outcome: BillingOutcome): Promise<BillingState> => {
      const command = { websiteId, attempt: number, ...outcome };
      return (await engine.handle(billingProcess, command, context())).state;
    };
    const leaseIn = ({ attempts: now }: BillingState): Token | null => (now.attempt === number ? leaseOf(now, worker) : null);

    const lease = leaseIn(await tell({ type: 'StartAttempt', task, worker, waitedOut }));
    if (lease === null) return;
    const renew = async (held: Token): Promise<Token | null> => leaseIn(await tell({ type: 'RenewLease', lease: held }));
    const onFault = (error: unknown): void => {
      log.warn({ err: error }, 'the lease could not be renewed');
    };
    /** As `tell`. @throws LeaseLost when it was not taken: somebody else is at it by now */
    const record = async (outcome: BillingOutcome): Promise<void> => {
      if (leaseIn(await tell(outcome)) === null) throw new LeaseLost('the lease has lapsed');
    };
    const act = async (held: Held): Promise<void> => {
      const last = await carryOut({ engine, reader, payments }, task, { websiteId, priceId, held, record, context });
      await tell(last);
    };
    try {
      await runAttempt({ clock, timeoutMs: TIMEOUT_MS, lease, renew, onFault, act });
    } catch (error) {
      if (error instanceof LeaseLost) return;
      const fault = faultOf(error);
      log.warn(
        { err: error },
        task.kind === 'claim' ? 'a transfer could not be carried out' : 'a subscription could not be ended',
      );
      await tell({
        type: 'RecordFailure',
        task,
        fault: { ...fault, ...blameFor(error, payments.provider) },
        jitter: random.fraction(),
      });
    }
  };

  const settle = async ({ id, data, metadata: { requestId, correlationId } }: Recorded, turn: Turn): Promise<void> => {
    const { websiteId } = data as { readonly websiteId: string };
    const context = (): CommandContext => ({
      commandId: ids.commandId(),
      actor,
      requestId,
      correlationId,
      causationId: id,
    });
    // Of its own: what keeps one event's work waiting need not keep another's.
    const worker = ids.commandId();
    await attemptUntilDone({
      clock,
      worker,
      turn,
      look: () => look(websiteId, context),
      attempt: (open, waitedOut) => attempt(websiteId, worker, open, waitedOut, context),
    });
  };

  return createReactor({
    name: 'transfer',
    filter: {
      streamPrefixes: ['access-', 'website-'],
      types: ['TransferClaimed', 'WebsiteOwnerAssigned', 'WebsiteOwnerRemoved'],
    },
    keyOf: ({ id }) => id,
    react: settle,
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
