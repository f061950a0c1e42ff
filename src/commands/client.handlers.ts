import type { Engine } from '../engine.js';
import type { ClientEvent } from '../events/client.events.js';
import { entityId } from '../platform/ids.js';
import { clientStream, emailStream, subjectStream } from './client.commands.js';
import { clientDecider, clientEmailDecider, clientSubjectDecider, type ClientState } from './client.decider.js';
import type { CommandContext, Handled, HandleOptions } from './handleCommand.js';
import { Refused, refusals } from './refusal.js';

/** The client of the address, made when there is none. A half-made one (its address reserved, then a crash) is completed. */
export const ensureClient = async (
  engine: Engine,
  person: { readonly email: string; readonly name?: string | undefined },
  context: CommandContext,
): Promise<{ readonly clientId: string; readonly created: boolean }> => {
  const own = entityId(context.commandId, 'client');
  const { state } = await engine.handle(
    clientEmailDecider,
    emailStream(engine.blindIndex, person.email),
    { type: 'ReserveClientEmail', clientId: own },
    context,
  );
  const clientId = state.clientId ?? own;
  const { events } = await engine.handle(
    clientDecider,
    clientStream(clientId),
    { type: 'RegisterClient', clientId, ...person },
    context,
  );
  return { clientId, created: events.length > 0 || clientId === own };
};

/** @throws Refused: `A client with this email already exists` */
export const createClient = async (
  engine: Engine,
  person: { readonly email: string; readonly name?: string | undefined },
  context: CommandContext,
): Promise<string> => {
  const { clientId, created } = await ensureClient(engine, person, context);
  if (!created) throw new Refused(refusals.clientEmailTaken());
  return clientId;
};

/** @throws Refused: `Client <id> does not exist`, `Someone else saved …` */
export const renameClient = (
  engine: Engine,
  clientId: string,
  name: string,
  context: CommandContext,
  options?: HandleOptions,
): Promise<Handled<ClientState, ClientEvent>> =>
  engine.handle(clientDecider, clientStream(clientId), { type: 'RenameClient', clientId, name }, context, options);

export const bindClientSubject = async (
  engine: Engine,
  clientId: string,
  subject: string,
  context: CommandContext,
): Promise<void> => {
  await engine.handle(
    clientSubjectDecider,
    subjectStream(engine.blindIndex, subject),
    { type: 'BindClientSubject', clientId, subject },
    context,
  );
};
