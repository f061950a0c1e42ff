import type { Engine } from '../../engine.js';
import { clientProjection, type ClientDocument } from './client.projection.js';
import { readList } from '../runner/readList.js';
import { clientEmailFold, clientFold, clientSubjectFold } from '../../events/client/client.state.js';

/** Whether the client is registered, and was not erased. */
const isRegistered = async (engine: Engine, clientId: string): Promise<boolean> =>
  (await engine.state(clientFold, { clientId })).state.stage === 'registered';

/** The client of a lower-case address, if it is registered. */
export const clientIdOfEmail = async (engine: Engine, email: string): Promise<string | undefined> => {
  const { state } = await engine.state(clientEmailFold, { emailIndex: engine.blindIndex(email) });
  return state.clientId !== undefined && (await isRegistered(engine, state.clientId)) ? state.clientId : undefined;
};

/**
 * The client that a signed-in subject is: the one it is bound to, else the one whose address the verified one is. One that was erased
 * is nobody's any more, whatever else is left of it.
 */
export const clientIdOf = async (engine: Engine, subject: string, verifiedEmail?: string): Promise<string | undefined> => {
  const { state } = await engine.state(clientSubjectFold, { subjectIndex: engine.blindIndex(subject) });
  if (state.clientId !== undefined && (await isRegistered(engine, state.clientId))) return state.clientId;
  return verifiedEmail === undefined ? undefined : clientIdOfEmail(engine, verifiedEmail);
};

/** The client with its address and name opened; `null` when there is none, or it was erased. */
export const readClient = async (
  engine: Engine,
  clientId: string,
): Promise<{ readonly client: ClientDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await engine.read(clientProjection, clientId);
  const client = document === null ? null : await opened(engine, document);
  return client === null ? null : { client, revision };
};

const opened = async ({ personal }: Engine, document: ClientDocument): Promise<ClientDocument | null> => {
  const { name: sealedName, ...others } = document;
  const email = await personal.open(document.email);
  if (email === null) return null;
  const name = sealedName === undefined ? null : await personal.open(sealedName);
  return { ...others, email, ...(name !== null && { name }) };
};

const pageSize = 200;

/**
 * Clients, newest first, with address and name opened. `q` is looked for in both, which no index of sealed texts can answer: the
 * clients are gone through. `email` must be the address.
 */
export const listClients = async (
  engine: Engine,
  query: { q?: string; email?: string; after?: string; limit: number },
): Promise<readonly ClientDocument[]> => {
  const { q = '', email, limit } = query;
  const wanted = q.toLowerCase();
  const matches = (client: ClientDocument): boolean =>
    [client.email, client.name ?? ''].some((text) => text.toLowerCase().includes(wanted));

  if (email !== undefined) {
    const clientId = await clientIdOfEmail(engine, email.toLowerCase());
    if (clientId === undefined || (query.after !== undefined && clientId >= query.after)) return [];
    const found = await readClient(engine, clientId);
    return found !== null && matches(found.client) ? [found.client] : [];
  }

  const clients: ClientDocument[] = [];
  for (let { after } = query; ;) {
    const size = wanted === '' ? limit : pageSize;
    const page = await readList(
      clientProjection,
      { order: 'descending', ...(after !== undefined && { after }), limit: size },
      engine,
    );
    for (const client of await Promise.all(page.map(({ body }) => opened(engine, body)))) {
      if (client !== null && matches(client)) clients.push(client);
    }
    if (clients.length >= limit || page.length < size) return clients.slice(0, limit);
    after = page.at(-1)?.id;
  }
};
