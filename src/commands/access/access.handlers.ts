import type { Engine } from '../../engine.js';
import type { AccessEvent, LinkRole } from '../../events/access/access.events.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import { clientIdOf, clientIdOfEmail } from '../../events/client/client.directory.js';
import { invitationIdFor, websiteIdOfInvitation, type AccessCommand } from './access.commands.js';
import { accessDecider } from './access.decider.js';
import { bindClientSubject, ensureClient, freeAddress } from '../client/client.handlers.js';
import { isRefusal } from '../decider.js';
import { consequenceOf, type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import type { Untimed } from '../decider.js';
import { Refused, refusals } from '../refusal.js';
import { clientFold } from '../../events/client/client.state.js';
import { websiteFold } from '../../events/website/website.state.js';
import { accessFold, type AccessState, linkRole } from '../../events/access/access.state.js';

type Handling = Promise<Handled<AccessState, AccessEvent>>;

/** What access to a website rests on beside its own stream. */
const websiteOf = async (engine: Engine, websiteId: string): Promise<{ ownerId: string | undefined; archived: boolean }> => {
  const { state } = await engine.state(websiteFold, { websiteId });
  return state.stage === 'none' ? { ownerId: undefined, archived: false } : { ownerId: state.clientId, archived: state.archived };
};

/** Whoever owns a website needs no link: one left behind would outlive the ownership. */
export const removeLinkOfOwner = async (
  engine: Engine,
  websiteId: string,
  ownerId: string,
  context: CommandContext,
): Promise<void> => {
  const { state } = await engine.state(accessFold, { websiteId });
  if (linkRole(state, ownerId) === undefined) return;
  await changeAccess(engine, { type: 'RemoveClient', websiteId, clientId: ownerId }, consequenceOf(engine, context));
};

/** Looks again after a link was written, as an assignment looks for links after the owner was: of two at the same moment one sees the other. */
const refuseOwner = async (engine: Engine, websiteId: string, clientId: string, context: CommandContext): Promise<void> => {
  const { ownerId } = await websiteOf(engine, websiteId);
  if (ownerId !== clientId) return;
  await removeLinkOfOwner(engine, websiteId, ownerId, context);
  throw new Refused(refusals.alreadyOwner());
};

/** As `refuseOwner`, with an erasure of the client at the same moment. */
const refuseErased = async (engine: Engine, websiteId: string, clientId: string, context: CommandContext): Promise<void> => {
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage !== 'erased') return;
  const withdraw = { type: 'WithdrawClient', websiteId, clientId, email: state.email } as const;
  await changeAccess(engine, withdraw, consequenceOf(engine, context));
  throw new Refused(refusals.clientNotFound(clientId));
};

/**
 * Links the client of the address, or invites the address when there is none.
 * @param wish `email` in lower case
 * @returns `email`: the address as the invitation holds it
 * @throws Refused: `Client already owns this website`; `Client <id> does not exist` when it was erased at the same moment
 */
export const addClient = async (
  engine: Engine,
  wish: { readonly websiteId: string; readonly email: string; readonly role: LinkRole },
  context: CommandContext,
): Promise<{
  readonly handled: Handled<AccessState, AccessEvent>;
  readonly clientId: string | undefined;
  readonly email: string;
}> => {
  const { websiteId } = wish;
  await freeAddress(engine, wish.email, context);
  const clientId = await clientIdOfEmail(engine, wish.email);
  const email = await engine.personal.seal(wish.email, wish.email);
  const { ownerId } = await websiteOf(engine, websiteId);
  const handled = await engine.handle(
    accessDecider,
    {
      type: 'AddClient',
      ...wish,
      email,
      invitationId: invitationIdFor(entityId(context.commandId, 'invitation'), websiteId),
      clientId,
      ownerId,
    },
    context,
  );
  if (clientId !== undefined) {
    await refuseOwner(engine, websiteId, clientId, context);
    await refuseErased(engine, websiteId, clientId, context);
  }
  return { handled, clientId, email };
};

/**
 * Offers the ownership of a website to whoever has the address.
 * @param wish `email` in lower case
 * @returns `email`: the address as the invitation holds it
 * @throws Refused: `Client already owns this website`
 */
export const offerTransfer = async (
  engine: Engine,
  wish: {
    readonly websiteId: string;
    readonly email: string;
    readonly priceId?: string | undefined;
    readonly sendMail: boolean;
  },
  context: CommandContext,
): Promise<{ readonly handled: Handled<AccessState, AccessEvent>; readonly email: string }> => {
  const { websiteId } = wish;
  await freeAddress(engine, wish.email, context);
  const clientId = await clientIdOfEmail(engine, wish.email);
  const email = await engine.personal.seal(wish.email, wish.email);
  const { ownerId } = await websiteOf(engine, websiteId);
  const invitationId = invitationIdFor(entityId(context.commandId, 'invitation'), websiteId);
  const command = { type: 'OfferTransfer', ...wish, email, invitationId, clientId, ownerId } as const;
  const handled = await engine.handle(accessDecider, command, context);
  if (clientId !== undefined) await refuseErased(engine, websiteId, clientId, context);
  return { handled, email };
};

/**
 * Takes up an invitation for a signed-in caller: makes the Client when there is none, binds the subject to it, links it. A transfer
 * is only begun: the rest is the process's (`workers/transfer/`).
 * @returns `claimId` for a transfer: names the claim
 * @throws Refused: `Invitation <id> not found`, `Pending transfer not found`, `Not authorized to claim this invitation`,
 * `Client already owns this website`, `Website <id> is archived`; `Client <id> does not exist` when it was erased at the same moment
 */
export const claimInvitation = async (
  engine: Engine,
  wish: {
    readonly invitationId: string;
    readonly subject: string;
    readonly verifiedEmail?: string | undefined;
    readonly name?: string | undefined;
  },
  context: CommandContext,
): Promise<{ readonly websiteId: string; readonly clientId: string; readonly claimId?: string | undefined }> => {
  const { invitationId, subject, verifiedEmail, name } = wish;
  const websiteId = websiteIdOfInvitation(invitationId);
  if (websiteId === null) throw new Refused(refusals.invitationNotFound(invitationId));

  const known = await clientIdOf(engine, subject, verifiedEmail);
  const { ownerId, archived } = await websiteOf(engine, websiteId);
  const { state } = await engine.state(accessFold, { websiteId });
  const { email: storedEmail, kind } = state.invitations.get(invitationId) ?? {};
  const isTheirs = storedEmail !== undefined && (await engine.personal.open(storedEmail)) === verifiedEmail;
  const storedSubject = await engine.personal.sealSubject(subject);
  const commandFor = (clientId: string): Untimed<Extract<AccessCommand, { type: 'ClaimInvitation' | 'ClaimTransfer' }>> => ({
    type: kind === 'ownership_transfer' ? 'ClaimTransfer' : 'ClaimInvitation',
    websiteId,
    invitationId,
    subject: storedSubject,
    verifiedEmail: isTheirs ? storedEmail : undefined,
    clientId,
    ownerId,
  });

  // A claim that would be refused makes no client.
  const foreseen = accessDecider.decide({ ...commandFor(known ?? ''), at: isoTime(engine.clock.now()) }, state);
  if (isRefusal(foreseen)) throw new Refused(foreseen);
  if (archived && foreseen.length > 0) throw new Refused(refusals.websiteArchived(websiteId));
  if (verifiedEmail === undefined) throw new Refused(refusals.notYourInvitation());

  const clientId = known ?? (await ensureClient(engine, { email: verifiedEmail, name }, context)).clientId;
  await bindClientSubject(engine, clientId, subject, context);
  const handled = await engine.handle(accessDecider, commandFor(clientId), context);
  if (kind !== 'ownership_transfer') await refuseOwner(engine, websiteId, clientId, context);
  await refuseErased(engine, websiteId, clientId, context);
  return { websiteId, clientId, claimId: handled.state.invitations.get(invitationId)?.claimId };
};

/** The commands on one website's access that rest on nothing but its own stream. */
export const changeAccess = (
  engine: Engine,
  command: Untimed<Exclude<AccessCommand, { type: 'AddClient' | 'ClaimInvitation' | 'OfferTransfer' | 'ClaimTransfer' }>>,
  context: CommandContext,
  options?: HandleOptions,
): Handling => engine.handle(accessDecider, command, context, options);
