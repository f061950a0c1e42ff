import type { Engine } from '../../engine.js';
import type { AccessEvent, LinkRole } from '../../events/access/access.events.js';
import type { AccessState } from '../../events/access/access.state.js';
import { invitationIdFor, keyOfInvitation, type AccessKey } from '../../events/access/access.stream.js';
import { clientFold } from '../../events/client/client.state.js';
import { START } from '../../events/store/eventStore.js';
import { websiteFold } from '../../events/website/website.state.js';
import { entityId } from '../../platform/ids.js';
import { reserveClientId } from '../client/clientEmail.handlers.js';
import type { Untimed } from '../decider.js';
import { consequenceOf, type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals, type Refusal } from '../refusal.js';
import type { ChangeAccess } from './access.commands.js';
import { accessDecider } from './access.decider.js';

type Handling = Promise<Handled<AccessState, AccessEvent>>;

/** The facts about a website that decisions on access need. */
export interface OwnedWebsite {
  readonly ownerId: string | undefined;
  readonly ownerPosition: bigint;
  readonly archived: boolean;
  readonly isGone: boolean;
}

export const websiteOf = async (engine: Engine, websiteId: string): Promise<OwnedWebsite> => {
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

export const refuseOwner = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<void> => {
  if (await withdrawFromOwner(engine, client, context)) throw new Refused(refusals.alreadyOwner());
};

export const refuseErased = async (engine: Engine, client: AccessKey, context: CommandContext): Promise<void> => {
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
