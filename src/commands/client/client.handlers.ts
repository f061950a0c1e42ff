import type { Engine } from '../../engine.js';
import type { ClientEvent } from '../../events/client/client.events.js';
import { addressChangeIdFor, clientStream } from '../../events/client/client.stream.js';
import { entityId, eventId } from '../../platform/ids.js';
import { refuseTakenAddress, reserveClientId } from './clientEmail.handlers.js';
import { clientDecider, clientSubjectDecider } from './client.decider.js';
import { type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { type ClientState, clientFold } from '../../events/client/client.state.js';

export interface Person {
  /** In lower case. */
  readonly email: string;
  readonly name?: string | undefined;
}

/** The client of the address, which is registered if needed. */
export const ensureClient = async (
  engine: Engine,
  { email, name }: Person,
  context: CommandContext,
): Promise<{ readonly clientId: string; readonly created: boolean }> => {
  const clientId = await reserveClientId(engine, email, context);
  const encrypt = (text: string): Promise<string> => engine.personal.encrypt(email, text);
  const encrypted = { email: await encrypt(email), ...(name !== undefined && { name: await encrypt(name) }) };
  const { state } = await engine.handle(clientDecider, { type: 'RegisterClient', clientId, ...encrypted }, context);
  // A repeated command appends nothing. It made the client if its first run registered the client
  // or reserved the id.
  const registration = eventId(context.commandId, clientStream.name({ clientId }), 0);
  const isOwn = state.stage === 'registered' && state.registeredBy === registration;
  return { clientId, created: isOwn || clientId === entityId(context.commandId, 'client') };
};

/** @throws Refused: `A client with this email already exists` */
export const createClient = async (engine: Engine, person: Person, context: CommandContext): Promise<string> => {
  const { clientId, created } = await ensureClient(engine, person, context);
  if (!created) throw new Refused(refusals.clientEmailTaken());
  return clientId;
};

/**
 * Changes the name at once. Another address holds once its owner has confirmed it
 * (`confirmAddressChange`); the present one withdraws what is pending.
 * @param changes `email` in lower case
 * @throws Refused: `Client <id> does not exist`, `A client with this email already exists`,
 *   `Somebody with this email is invited to a website`, `Someone else saved …`
 */
export const changeClient = async (
  engine: Engine,
  clientId: string,
  { name, email }: { readonly name?: string | null | undefined; readonly email?: string | undefined },
  context: CommandContext,
  options?: HandleOptions,
): Promise<Handled<ClientState, ClientEvent>> => {
  const { state } = await engine.state(clientFold, { clientId });
  const address = state.stage === 'registered' ? await engine.personal.decrypt(state.email) : null;
  if (state.stage !== 'registered' || address === null) throw new Refused(refusals.clientNotFound(clientId));
  if (email !== undefined && email !== address) await refuseTakenAddress(engine, clientId, email);
  const encrypt = (text: string): Promise<string> => engine.personal.encrypt(address, text);
  const command = {
    type: 'ChangeClient',
    clientId,
    encryptedFor: state.email,
    ...(name !== undefined && { name: name === null ? null : await encrypt(name) }),
    ...(email !== undefined && { email: email === address ? state.email : await encrypt(email) }),
    changeId: addressChangeIdFor(entityId(context.commandId, 'addressChange'), clientId),
  } as const;
  return engine.handle(clientDecider, command, context, options);
};

export const bindClientSubject = async (
  engine: Engine,
  clientId: string,
  subject: string,
  context: CommandContext,
): Promise<void> => {
  await engine.handle(
    clientSubjectDecider,
    {
      type: 'BindClientSubject',
      subjectIndex: engine.blindIndex(subject),
      clientId,
      subject: await engine.personal.encryptSubject(subject),
    },
    context,
  );
};
