import type { Engine } from '../../engine.js';
import type { AccessEvent, LinkRole } from '../../events/access/access.events.js';
import { accessFold, type AccessState } from '../../events/access/access.state.js';
import { invitationIdFor, keyOfInvitation, type AccessKey } from '../../events/access/access.stream.js';
import { clientBoundTo, clientIdOf, isRecipient } from '../../events/client/client.directory.js';
import { clientFold } from '../../events/client/client.state.js';
import { START } from '../../events/store/eventStore.js';
import { websiteFold } from '../../events/website/website.state.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import { bindClientSubject, ensureClient } from '../client/client.handlers.js';
import { reserveClientId } from '../client/clientEmail.handlers.js';
import { isRefusal, type Untimed } from '../decider.js';
import { consequenceOf, type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals, type Refusal } from '../refusal.js';
import type { ChangeAccess, ClaimInvitation, ClaimTransfer } from './access.commands.js';
import { accessDecider } from './access.decider.js';

type Handling = Promise<Handled<AccessState, AccessEvent>>;

/** The facts about a website that decisions on access need. */
const websiteOf = async (
  engine: Engine,
  websiteId: string,
): Promise<{
  readonly ownerId: string | undefined;
  readonly ownerPosition: bigint;
  readonly archived: boolean;
  readonly isGone: boolean;
}> => {
  const { state } = await engine.state(websiteFold, { websiteId });
  if (state.stage === 'none') {
    return { ownerId: undefined, ownerPosition: START, archived: false, isGone: state.abandoned === true };
  }
  const { clientId: ownerId, ownerPosition, archived } = state;
  return { ownerId, ownerPosition, archived, isGone: false };
};

/**
 * An owner needs neither link nor invitation: what is left behind would outlive the ownership.
 * @param upTo position of the assignment: what was given or sent after it stays
 */
export const settleOwner = async (engine: Engine, owner: AccessKey, context: CommandContext, upTo?: bigint): Promise<void> => {
  await changeAccess(engine, { type: 'SettleOwner', ...owner, upTo }, consequenceOf(engine, context));
};

/**
 * Checks again after a link was written, as an assignment checks for links after the owner was
 * written: two concurrent ones see each other.
 * @returns whether the client owns the website, so that the link was removed
 */
export const withdrawFromOwner = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<boolean> => {
  const { ownerId } = await websiteOf(engine, client.websiteId);
  if (ownerId !== client.clientId) return false;
  await settleOwner(engine, client, context);
  return true;
};

/**
 * As `withdrawFromOwner`, with a concurrent erasure of the client.
 * @returns whether the client is erased, so that the access was removed
 */
export const withdrawFromErased = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<boolean> => {
  const { state } = await engine.state(clientFold, { clientId: client.clientId });
  if (state.stage !== 'erased') return false;
  await changeAccess(engine, { type: 'WithdrawClient', ...client }, consequenceOf(engine, context));
  return true;
};

const refuseOwner = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<void> => {
  if (await withdrawFromOwner(engine, client, context)) throw new Refused(refusals.alreadyOwner());
};

const refuseErased = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<void> => {
  if (await withdrawFromErased(engine, client, context)) throw new Refused(refusals.clientNotFound(client.clientId));
};

/**
 * Withdraws those offers of a website's ownership that an assignment of the owner has overtaken.
 * @param invitationIds offers of the website, also such as are over or newer
 */
export const withdrawOvertakenOffers = async (
  engine: Engine,
  websiteId: string,
  invitationIds: readonly string[],
  context: CommandContext,
): Promise<void> => {
  const { ownerId, ownerPosition } = await websiteOf(engine, websiteId);
  for (const invitationId of invitationIds) {
    const key = keyOfInvitation(invitationId);
    if (key === null) continue;
    const withdraw = { type: 'WithdrawTransfer', ...key, invitationId, ownerId, ownerPosition } as const;
    await changeAccess(engine, withdraw, consequenceOf(engine, context));
  }
};

/**
 * Whom the address stands for, and the address as events hold it.
 * @throws Refused: `Client <id> does not exist` when it was erased at the same moment
 */
const personOf = async (engine: Engine, address: string, context: CommandContext) => {
  const clientId = await reserveClientId(engine, address, context);
  const email = await engine.personal.encrypt(address, address);
  // Read after the encryption: of somebody who is not erased by now, the key is their own and is
  // destroyed with them.
  const { stage } = (await engine.state(clientFold, { clientId })).state;
  if (stage === 'erased') throw new Refused(refusals.clientNotFound(clientId));
  return { clientId, email, isRegistered: stage === 'registered' };
};

interface Added {
  readonly handled: Handled<AccessState, AccessEvent>;
  readonly clientId: string;
}

/**
 * Links the client of the address, or invites the address when nobody is registered with it.
 * @param input `email` in lower case
 * @throws Refused: `Client already owns this website`; `Client <id> does not exist` when it was
 *   erased at the same moment
 */
export const addClient = async (
  engine: Engine,
  {
    websiteId,
    role,
    notify,
    ...input
  }: { readonly websiteId: string; readonly email: string; readonly role: LinkRole; readonly notify?: boolean | undefined },
  context: CommandContext,
): Promise<Added> => {
  const { clientId, email, isRegistered } = await personOf(engine, input.email, context);
  const key = { websiteId, clientId };
  const { ownerId } = await websiteOf(engine, websiteId);
  const invitationId = invitationIdFor(entityId(context.commandId, 'invitation'), key);
  const command = { type: 'AddClient', ...key, email, role, isRegistered, notify, invitationId, ownerId } as const;
  const handled = await engine.handle(accessDecider, command, context);
  await refuseOwner(engine, key, context);
  await refuseErased(engine, key, context);
  return { handled, clientId };
};

/**
 * Offers the ownership of a website to the person of the address.
 * @param input `email` in lower case
 * @throws Refused: `Client already owns this website`; `Client <id> does not exist` when it was
 * erased at the same moment
 */
export const offerTransfer = async (
  engine: Engine,
  {
    websiteId,
    priceId,
    subscriptionId,
    sendMail,
    ...input
  }: {
    readonly websiteId: string;
    readonly email: string;
    readonly priceId?: string | undefined;
    readonly subscriptionId?: string | undefined;
    readonly sendMail: boolean;
  },
  context: CommandContext,
): Promise<Added> => {
  const { clientId, email } = await personOf(engine, input.email, context);
  const key = { websiteId, clientId };
  const { ownerId } = await websiteOf(engine, websiteId);
  const invitationId = invitationIdFor(entityId(context.commandId, 'invitation'), key);
  const terms = { email, priceId, subscriptionId, sendMail, invitationId, ownerId };
  const command = { type: 'OfferTransfer', ...key, ...terms } as const;
  const handled = await engine.handle(accessDecider, command, context);
  await refuseErased(engine, key, context);
  return { handled, clientId };
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
  input: {
    readonly invitationId: string;
    readonly subject: string;
    readonly verifiedEmail?: string | undefined;
    readonly name?: string | undefined;
  },
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
  const { websiteId } = key;

  const known = await clientIdOf(engine, subject, verifiedEmail);
  const { ownerId, ownerPosition, archived, isGone } = await websiteOf(engine, websiteId);
  const { state, revision: found } = await engine.state(accessFold, key);
  const { email: storedEmail, kind } = state.invitations.get(invitationId) ?? {};
  const isTheirs = storedEmail !== undefined && (await isRecipient(engine, key.clientId, storedEmail, verifiedEmail));
  const storedSubject = await engine.personal.encryptSubject(subject);
  const commandBy = (claimedBy: string): Untimed<ClaimInvitation | ClaimTransfer> => ({
    type: kind === 'ownership_transfer' ? 'ClaimTransfer' : 'ClaimInvitation',
    ...key,
    invitationId,
    subject: storedSubject,
    verifiedEmail: isTheirs ? storedEmail : undefined,
    claimedBy,
    ownerId,
    ownerPosition,
  });

  // A claim that would be refused registers no client.
  const expected = accessDecider.decide({ ...commandBy(known ?? key.clientId), at: isoTime(engine.clock.now()) }, state);
  if (isRefusal(expected))
    throw new Refused(expected.code === 'not_your_invitation' ? refusals.notYourInvitation(verifiedEmail) : expected);
  if (isGone && expected.length > 0) throw new Refused(refusals.invitationNotFound(invitationId));
  const isStale = options.expectedRevision !== undefined && options.expectedRevision !== found;
  if (isStale && context.isRepetition !== true) throw new Refused(refusals.stale());
  if (archived && expected.length > 0) throw new Refused(refusals.websiteArchived(websiteId));
  if (verifiedEmail === undefined) throw new Refused(refusals.notYourInvitation());

  const clientId = known ?? (await ensureClient(engine, { email: verifiedEmail, name }, context)).clientId;
  const claimant = { websiteId, clientId };
  // Who comes by a former address of a client is that client again when they come by another one.
  const bound = await clientBoundTo(engine, subject);
  if (bound === undefined || bound === clientId) await bindClientSubject(engine, clientId, subject, context);
  const handled = await engine.handle(accessDecider, commandBy(clientId), context, options).catch(async (error: unknown) => {
    // An assignment at the same moment has ended the invitation.
    if (error instanceof Refused && kind !== 'ownership_transfer') await refuseOwner(engine, claimant, context);
    throw error;
  });
  const { revision } = handled;
  const { claimId } = handled.state.invitations.get(invitationId) ?? {};
  let linkRevision = revision;
  if (kind !== 'ownership_transfer') {
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

/** The commands on one person's access that rest on nothing but its own stream. */
export const changeAccess = (
  engine: Engine,
  command: Untimed<ChangeAccess>,
  context: CommandContext,
  options?: HandleOptions,
): Handling => engine.handle(accessDecider, command, context, options);

/**
 * A command on an invitation of a website, named by its id.
 * @throws Refused: `Invitation <id> not found`, for a transfer `Pending transfer not found`;
 *   `Someone else saved …`
 */
export const changeInvitation = async (
  engine: Engine,
  type: 'ResendInvitation' | 'RevokeInvitation' | 'CancelTransfer',
  { websiteId, invitationId }: { readonly websiteId: string; readonly invitationId: string },
  context: CommandContext,
  options?: HandleOptions,
): Handling => {
  const key = keyOfInvitation(invitationId);
  if (key?.websiteId !== websiteId) throw new Refused(notThere(type, invitationId));
  return changeAccess(engine, { type, ...key, invitationId }, context, options);
};

/**
 * Withdraws an invitation that is there.
 * @throws Refused: as `changeInvitation`, also when it was withdrawn before
 */
export const withdrawInvitation = async (
  engine: Engine,
  type: 'RevokeInvitation' | 'CancelTransfer',
  invitation: { readonly websiteId: string; readonly invitationId: string },
  context: CommandContext,
  options?: HandleOptions,
): Promise<void> => {
  const ifNothing = notThere(type, invitation.invitationId);
  await changeInvitation(engine, type, invitation, context, { ...options, ifNothing });
};

const notThere = (type: 'ResendInvitation' | 'RevokeInvitation' | 'CancelTransfer', invitationId: string): Refusal =>
  type === 'CancelTransfer' ? refusals.transferNotFound() : refusals.invitationNotFound(invitationId);

/**
 * Takes a link away that is there.
 * @throws Refused: `Client <id> is not linked to website <id>`, `Someone else saved …`
 */
export const removeClient = async (
  engine: Engine,
  link: AccessKey,
  context: CommandContext,
  options?: HandleOptions,
): Promise<void> => {
  const ifNothing = refusals.linkNotFound(link.clientId, link.websiteId);
  await changeAccess(engine, { type: 'RemoveClient', ...link }, context, { ...options, ifNothing });
};

/**
 * Undoes the removal of a link. A link that was given again since stays as it is.
 * @throws Refused: `Client <id> is not linked to website <id>`, `The link … was not removed`, `The
 * link … was removed more than 30 days ago`, `Client already owns this website`, `Client <id> does
 * not exist` when it was erased, `Someone else saved …`
 */
export const restoreClient = async (
  engine: Engine,
  link: AccessKey,
  context: CommandContext,
  options?: HandleOptions,
): Handling => {
  const { state: client } = await engine.state(clientFold, { clientId: link.clientId });
  if (client.stage === 'erased') throw new Refused(refusals.clientNotFound(link.clientId));
  const { ownerId } = await websiteOf(engine, link.websiteId);
  const handled = await engine.handle(accessDecider, { type: 'RestoreLink', ...link, ownerId }, context, options);
  await refuseOwner(engine, link, context);
  await refuseErased(engine, link, context);
  return handled;
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
): Handling => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Refused(refusals.invitationNotFound(invitationId));
  const { email } = (await engine.state(accessFold, key)).state.invitations.get(invitationId) ?? {};
  const isTheirs = email !== undefined && (await isRecipient(engine, key.clientId, email, verifiedEmail));
  const request = { type: 'RequestRenewal', ...key, invitationId, verifiedEmail: isTheirs ? email : undefined } as const;
  if (email !== undefined && !isTheirs) throw new Refused(refusals.notYourInvitation(verifiedEmail));
  return changeAccess(engine, request, context);
};
