import type { Engine } from '../../engine.js';
import type { ClientEvent } from '../../events/client/client.events.js';
import { clientStream } from '../../events/client/client.stream.js';
import { entityId, eventId } from '../../platform/ids.js';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from './client.decider.js';
import { consequenceOf, type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { type ClientState, clientFold, clientEmailFold } from '../../events/client/client.state.js';

export interface Person {
  /** In lower case. */
  readonly email: string;
  readonly name?: string | undefined;
}

/**
 * The client id that a lower-case address stands for. The first call for an address reserves one.
 */
export const reserveClientId = async (engine: Engine, email: string, context: CommandContext): Promise<string> => {
  await freeAddress(engine, email, context);
  const own = entityId(context.commandId, 'client');
  const reserve = { type: 'ReserveClientEmail', emailIndex: engine.blindIndex(email), clientId: own } as const;
  const { state } = await engine.handle(clientEmailDecider, reserve, context);
  return state.clientId ?? own;
};

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

/**
 * Releases an address that an erased client still holds, so that it belongs to a new person. An
 * erasure begins with this; a command that needs the address earlier does it first.
 */
const freeAddress = async (engine: Engine, email: string, context: CommandContext): Promise<void> => {
  const { clientId } = (await engine.state(clientEmailFold, { emailIndex: engine.blindIndex(email) })).state;
  if (clientId === undefined) return;
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage === 'erased') await releaseAddress(engine, { clientId, email: state.email, address: email }, context);
};

/** @param client `email` as its events hold it, `address` in lower case */
export const releaseAddress = async (
  engine: Engine,
  { clientId, email, address }: { readonly clientId: string; readonly email: string; readonly address: string },
  context: CommandContext,
): Promise<void> => {
  await engine.personal.retire(email);
  const release = { type: 'ReleaseClientEmail', emailIndex: engine.blindIndex(address), clientId } as const;
  await engine.handle(clientEmailDecider, release, consequenceOf(engine, context));
};

/** @throws Refused: `A client with this email already exists` */
export const createClient = async (engine: Engine, person: Person, context: CommandContext): Promise<string> => {
  const { clientId, created } = await ensureClient(engine, person, context);
  if (!created) throw new Refused(refusals.clientEmailTaken());
  return clientId;
};

/** @throws Refused: `Client <id> does not exist`, `Someone else saved …` */
export const renameClient = async (
  engine: Engine,
  clientId: string,
  name: string,
  context: CommandContext,
  options?: HandleOptions,
): Promise<Handled<ClientState, ClientEvent>> => {
  const { state } = await engine.state(clientFold, { clientId });
  const email = state.stage === 'registered' ? await engine.personal.decrypt(state.email) : null;
  if (email === null) throw new Refused(refusals.clientNotFound(clientId));
  const encryptedName = await engine.personal.encrypt(email, name);
  const command = { type: 'RenameClient', clientId, name: encryptedName } as const;
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
