import { clientStream, emailStream, subjectStream } from '../commands/client.commands.js';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from '../commands/client.decider.js';
import type { Engine } from '../engine.js';

/** The client of a lower-case address, if it is registered. */
export const clientIdOfEmail = async (engine: Engine, email: string): Promise<string | undefined> => {
  const { state } = await engine.state(clientEmailDecider, emailStream(engine.blindIndex, email));
  if (state.clientId === undefined) return undefined;
  const client = await engine.state(clientDecider, clientStream(state.clientId));
  return client.state.stage === 'none' ? undefined : state.clientId;
};

/** The client that a signed-in subject is: the one it is bound to, else the one whose address the verified one is. */
export const clientIdOf = async (engine: Engine, subject: string, verifiedEmail?: string): Promise<string | undefined> => {
  const { state } = await engine.state(clientSubjectDecider, subjectStream(engine.blindIndex, subject));
  if (state.clientId !== undefined) return state.clientId;
  return verifiedEmail === undefined ? undefined : clientIdOfEmail(engine, verifiedEmail);
};
