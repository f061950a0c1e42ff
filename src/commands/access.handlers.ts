import type { Engine } from '../engine.js';
import type { AccessEvent, LinkRole } from '../events/access.events.js';
import { isoTime } from '../platform/clock.js';
import { entityId } from '../platform/ids.js';
import { clientIdOf, clientIdOfEmail } from '../projections/client.queries.js';
import { accessStream, invitationIdFor, websiteIdOfInvitation, type AccessCommand } from './access.commands.js';
import { accessDecider, type AccessState } from './access.decider.js';
import { bindClientSubject, ensureClient } from './client.handlers.js';
import { isRefusal } from './decider.js';
import type { CommandContext, Handled, HandleOptions, Untimed } from './handleCommand.js';
import { Refused, refusals } from './refusal.js';
import { websiteDecider } from './website.decider.js';
import { websiteStream } from './website.commands.js';

type Handling = Promise<Handled<AccessState, AccessEvent>>;

const ownerOf = async (engine: Engine, websiteId: string): Promise<string | undefined> => {
  const { state } = await engine.state(websiteDecider, websiteStream(websiteId));
  return state.stage === 'none' ? undefined : state.clientId;
};

/**
 * Links the client of the address, or invites the address when there is none.
 * @param wish `email` in lower case
 * @throws Refused: `Client already owns this website`
 */
export const addClient = async (
  engine: Engine,
  wish: { readonly websiteId: string; readonly email: string; readonly role: LinkRole },
  context: CommandContext,
): Promise<{ readonly handled: Handled<AccessState, AccessEvent>; readonly clientId: string | undefined }> => {
  const { websiteId, email } = wish;
  const clientId = await clientIdOfEmail(engine, email);
  const handled = await engine.handle(
    accessDecider,
    accessStream(websiteId),
    {
      type: 'AddClient',
      ...wish,
      invitationId: invitationIdFor(entityId(context.commandId, 'invitation'), websiteId),
      clientId,
      ownerId: await ownerOf(engine, websiteId),
    },
    context,
  );
  return { handled, clientId };
};

/**
 * Takes up an invitation for a signed-in caller: makes the Client when there is none, binds the subject to it, links it.
 * @throws Refused: `Invitation <id> not found`, `Not authorized to claim this invitation`
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
): Promise<{ readonly websiteId: string; readonly clientId: string }> => {
  const { invitationId, subject, verifiedEmail, name } = wish;
  const websiteId = websiteIdOfInvitation(invitationId);
  if (websiteId === null) throw new Refused(refusals.invitationNotFound(invitationId));

  const known = await clientIdOf(engine, subject, verifiedEmail);
  const commandFor = (
    clientId: string,
    ownerId: string | undefined,
  ): Untimed<Extract<AccessCommand, { type: 'ClaimInvitation' }>> => ({
    type: 'ClaimInvitation',
    websiteId,
    invitationId,
    subject,
    verifiedEmail,
    clientId,
    ownerId,
  });

  // A claim that would be refused makes no client.
  const ownerId = await ownerOf(engine, websiteId);
  const { state } = await engine.state(accessDecider, accessStream(websiteId));
  const foreseen = accessDecider.decide({ ...commandFor(known ?? '', ownerId), at: isoTime(engine.clock.now()) }, state);
  if (isRefusal(foreseen)) throw new Refused(foreseen);
  if (verifiedEmail === undefined) throw new Refused(refusals.notYourInvitation());

  const clientId = known ?? (await ensureClient(engine, { email: verifiedEmail, name }, context)).clientId;
  await bindClientSubject(engine, clientId, subject, context);
  await engine.handle(accessDecider, accessStream(websiteId), commandFor(clientId, ownerId), context);
  return { websiteId, clientId };
};

/** The commands on one website's access that rest on nothing but its own stream. */
export const changeAccess = (
  engine: Engine,
  command: Untimed<Exclude<AccessCommand, { type: 'AddClient' | 'ClaimInvitation' }>>,
  context: CommandContext,
  options?: HandleOptions,
): Handling => engine.handle(accessDecider, accessStream(command.websiteId), command, context, options);
