import type { Engine } from '../../engine.js';
import type { AccessEvent } from '../../events/access/access.events.js';
import { accessFold, type AccessState } from '../../events/access/access.state.js';
import { keyOfInvitation, type AccessKey } from '../../events/access/access.stream.js';
import { clientBoundTo, clientIdOf, isRecipient } from '../../events/client/client.directory.js';
import { isoTime } from '../../platform/clock.js';
import { bindClientSubject, ensureClient } from '../client/client.handlers.js';
import { isRefusal, type Untimed } from '../decider.js';
import type { CommandContext, Handled, HandleOptions } from '../handleCommand.js';
import { Refused, refusals, throwIfRefused, type Refusal } from '../refusal.js';
import type { ClaimInvitation, ClaimTransfer } from './access.commands.js';
import { accessDecider } from './access.decider.js';
import { changeAccess, refuseErased, refuseOwner, websiteOf, type OwnedWebsite } from './access.handlers.js';

/** A signed-in caller, and the invitation that they claim. */
interface ClaimInput {
  readonly invitationId: string;
  readonly subject: string;
  readonly verifiedEmail?: string | undefined;
  readonly name?: string | undefined;
}

/** What a claim rests on, as it was before. */
interface Claim {
  readonly state: AccessState;
  readonly revision: bigint;
  readonly website: OwnedWebsite;
  /** The client that the claimant is already. */
  readonly knownAs: string | undefined;
  readonly isTransfer: boolean;
  readonly commandBy: (claimedBy: string) => Untimed<ClaimInvitation | ClaimTransfer>;
}

const readClaim = async (
  engine: Engine,
  key: AccessKey,
  { invitationId, subject, verifiedEmail }: ClaimInput,
): Promise<Claim> => {
  const knownAs = await clientIdOf(engine, subject, verifiedEmail);
  const website = await websiteOf(engine, key.websiteId);
  const { state, revision } = await engine.state(accessFold, key);
  const { email, kind } = state.invitations.get(invitationId) ?? {};
  const isTheirs = email !== undefined && (await isRecipient(engine, key.clientId, email, verifiedEmail));
  const storedSubject = await engine.personal.encryptSubject(subject);
  const isTransfer = kind === 'ownership_transfer';
  const commandBy: Claim['commandBy'] = (claimedBy) => ({
    type: isTransfer ? 'ClaimTransfer' : 'ClaimInvitation',
    ...key,
    invitationId,
    subject: storedSubject,
    verifiedEmail: isTheirs ? email : undefined,
    claimedBy,
    ownerId: website.ownerId,
    ownerPosition: website.ownerPosition,
  });
  return { state, revision, website, knownAs, isTransfer, commandBy };
};

/** Why the claim would be refused as of now. */
const refusalOf = (
  engine: Engine,
  key: AccessKey,
  { invitationId, verifiedEmail }: ClaimInput,
  { state, website, knownAs, commandBy }: Claim,
  isStale: boolean,
): Refusal | null => {
  const command = { ...commandBy(knownAs ?? key.clientId), at: isoTime(engine.clock.now()) };
  const expected = accessDecider.decide(command, state);
  if (isRefusal(expected)) return expected.code === 'not_your_invitation' ? refusals.notYourInvitation(verifiedEmail) : expected;
  const isChange = expected.length > 0;
  if (website.isGone && isChange) return refusals.invitationNotFound(invitationId);
  if (isStale) return refusals.stale();
  return website.archived && isChange ? refusals.websiteArchived(key.websiteId) : null;
};

/**
 * Claims an invitation for a signed-in caller: registers the client if needed, binds the subject to
 * it, links it. For a transfer, this only starts the claim; the transfer process
 * (`workers/transfer/`) completes it.
 * @returns `claimId` for a transfer: names the claim; `revision` and `linkRevision`: those that it left
 * the streams of the invitation and of the link at
 * @throws Refused: `Invitation <id> not found`, `Pending transfer not found`, `Not authorized to
 * claim this invitation`, `Client already owns this website`, `Website <id> is archived`,
 * `Someone else saved …`; `Client <id> does not exist` when it was erased at the same moment
 */
export const claimInvitation = async (
  engine: Engine,
  input: ClaimInput,
  context: CommandContext,
  options: HandleOptions = {},
): Promise<{
  readonly websiteId: string;
  readonly clientId: string;
  readonly claimId?: string | undefined;
  readonly revision: bigint;
  readonly linkRevision: bigint;
}> => {
  const { invitationId, subject, verifiedEmail, name } = input;
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Refused(refusals.invitationNotFound(invitationId));
  const claim = await readClaim(engine, key, input);
  const { knownAs, isTransfer, commandBy } = claim;
  const isStale = options.expectedRevision !== undefined && options.expectedRevision !== claim.revision;
  // A claim that would be refused registers no client.
  throwIfRefused(refusalOf(engine, key, input, claim, isStale && context.isRepetition !== true));
  if (verifiedEmail === undefined) throw new Refused(refusals.notYourInvitation());

  const clientId = knownAs ?? (await ensureClient(engine, { email: verifiedEmail, name }, context)).clientId;
  const { websiteId } = key;
  const claimant = { websiteId, clientId };
  // Who comes by a former address of a client is that client again when they come by another one.
  const bound = await clientBoundTo(engine, subject);
  if (bound === undefined || bound === clientId) await bindClientSubject(engine, clientId, subject, context);
  const handled = await engine.handle(accessDecider, commandBy(clientId), context, options).catch(async (error: unknown) => {
    // An assignment at the same moment has ended the invitation.
    if (error instanceof Refused && !isTransfer) await refuseOwner(engine, claimant, context);
    throw error;
  });
  const { revision } = handled;
  const { claimId } = handled.state.invitations.get(invitationId) ?? {};
  let linkRevision = revision;
  if (!isTransfer) {
    linkRevision = (await linkClaimant(engine, key, invitationId, handled.state, context))?.revision ?? revision;
    await refuseOwner(engine, claimant, context);
  }
  await refuseErased(engine, claimant, context);
  return { websiteId, clientId, claimId, revision, linkRevision };
};

/**
 * Links the client who has accepted an invitation to another address of theirs, in their own stream.
 * @param invited the stream of the invitation, and its state
 * @returns `null` when it was to their own address, or is another's
 * @throws Refused: `Invitation <id> not found` when the link was taken away since
 */
const linkClaimant = async (
  engine: Engine,
  invited: AccessKey,
  invitationId: string,
  state: AccessState,
  context: CommandContext,
): Promise<Handled<AccessState, AccessEvent> | null> => {
  const { kind, claimedBy, acceptedPosition, role = 'viewer' } = state.invitations.get(invitationId) ?? {};
  if (kind !== 'client_access' || claimedBy === undefined || acceptedPosition === undefined) return null;
  if (claimedBy === invited.clientId) return null;
  const claimant = { websiteId: invited.websiteId, clientId: claimedBy };
  return engine.handle(accessDecider, { type: 'LinkClaimant', ...claimant, invitationId, role, acceptedPosition }, context);
};

/** Completes a claim of an invitation to another address that ended before the link was written. */
export const completeClaim = async (engine: Engine, invitationId: string, context: CommandContext): Promise<void> => {
  const key = keyOfInvitation(invitationId);
  if (key === null) return;
  const { state } = await engine.state(accessFold, key);
  try {
    await linkClaimant(engine, key, invitationId, state, context);
  } catch (error) {
    // The link was taken away since.
    if (!(error instanceof Refused)) throw error;
  }
};

/**
 * Asks the admins for a new invitation in place of an expired one.
 * @throws Refused: `Invitation <id> not found`, `Pending transfer not found`, `Not authorized to
 * claim this invitation`, `Invitation <id> has not expired`
 */
export const requestRenewal = async (
  engine: Engine,
  { invitationId, verifiedEmail }: { readonly invitationId: string; readonly verifiedEmail?: string | undefined },
  context: CommandContext,
): Promise<Handled<AccessState, AccessEvent>> => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Refused(refusals.invitationNotFound(invitationId));
  const { email } = (await engine.state(accessFold, key)).state.invitations.get(invitationId) ?? {};
  const isTheirs = email !== undefined && (await isRecipient(engine, key.clientId, email, verifiedEmail));
  const request = { type: 'RequestRenewal', ...key, invitationId, verifiedEmail: isTheirs ? email : undefined } as const;
  if (email !== undefined && !isTheirs) throw new Refused(refusals.notYourInvitation(verifiedEmail));
  return changeAccess(engine, request, context);
};
