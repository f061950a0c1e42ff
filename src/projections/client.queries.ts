import { clientStream, emailStream, subjectStream } from '../commands/client.commands.js';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from '../commands/client.decider.js';
import type { Engine } from '../engine.js';
import { clientProjection, type ClientDocument } from './client.projection.js';
import { readList } from './runner/readList.js';

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

/** Clients, newest first. `q` is looked for in address and name, `email` must be the address. */
export const listClients = async (
  engine: Engine,
  query: { q?: string; email?: string; after?: string; limit: number },
): Promise<readonly ClientDocument[]> => {
  const { q, email, after, limit } = query;
  const found = await readList(
    clientProjection,
    {
      ...(email !== undefined && { where: { email: email.toLowerCase() } }),
      ...(q !== undefined && q !== '' && { search: { fields: ['email', 'name'], text: q } }),
      order: 'descending',
      ...(after !== undefined && { after }),
      limit,
    },
    engine,
  );
  return found.map(({ body }) => body);
};
