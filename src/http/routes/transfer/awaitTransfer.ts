import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { ProviderFault } from '../../../integrations/fault.js';
import { billingFold, type BillingFault } from '../../../events/billing/billing.state.js';
import { awaitMs, isPausedBeyond } from '../../awaiting.js';
import { httpErrors } from '../../errors.js';
import { accessStream, type AccessKey } from '../../../events/access/access.stream.js';
import { billingStream } from '../../../events/billing/billing.stream.js';
import { accessFold } from '../../../events/access/access.state.js';

/**
 * Waits until the claim of a transfer is carried out, which whatever worker there is does. When
 * that takes too long, or when it came to nothing, claiming again goes on from there.
 * @throws ProviderFault in the payment provider's name; Refused: `Pending transfer not found`, what
 * the claim was refused with since; HttpFault 503 when nothing is known after 15 s
 */
export const awaitTransfer = async (
  engine: Engine,
  claim: { readonly key: AccessKey; readonly invitationId: string; readonly claimId: string },
  gone: AbortSignal,
): Promise<void> => {
  const { key } = claim;
  const { websiteId } = key;
  const streams = [accessStream.name(key), billingStream.name({ websiteId })];
  if (await engine.waitFor(streams, { timeoutMs: awaitMs, gone }, (deadline) => findCarriedOut(engine, claim, deadline))) return;
  const { state } = await engine.state(billingFold, { websiteId });
  throw state.about === claim.claimId && state.lastFault !== undefined ? errorOf(state.lastFault) : httpErrors.transferUnderWay();
};

/** @throws what became of the claim instead, or will not be otherwise before `deadline` */
const findCarriedOut = async (
  engine: Engine,
  { key, invitationId, claimId }: { readonly key: AccessKey; readonly invitationId: string; readonly claimId: string },
  deadline: number,
): Promise<true | null> => {
  const { state: billing } = await engine.state(billingFold, key);
  const outcome = billing.outcomes.get(claimId);
  const { state: access } = await engine.state(accessFold, key);
  const invitation = access.invitations.get(invitationId);
  // It was carried out also when another assignment has overtaken it since.
  if (invitation?.stage === 'accepted' || outcome === 'completed') return true;
  if (invitation?.stage === 'revoked') throw new Refused(refusals.transferNotFound());
  // Answered once it can be claimed again, so that a claim made at once does not fail the same way.
  const isReleased = invitation?.stage === 'pending' || invitation?.claimId !== claimId;
  if (isReleased && outcome === 'declined') throw new Refused(refusals.transferNotFound());
  if (isReleased && typeof outcome === 'object') throw errorOf(outcome.failed);
  const { about, attempts, lastFault } = billing;
  if (about === claimId && lastFault !== undefined && isPausedBeyond(attempts, deadline)) throw errorOf(lastFault);
  return null;
};

const errorOf = ({ error, transient, provider, late }: BillingFault): Error => {
  if (provider === undefined) {
    return transient ? new Error(error) : new Refused(refusals.transferFailed(error));
  }
  const cause = late ? Object.assign(new Error(error), { name: 'TimeoutError' }) : undefined;
  return new ProviderFault({ provider, message: error, transient, cause });
};
