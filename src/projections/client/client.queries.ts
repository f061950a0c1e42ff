import { clientIdOfEmail } from '../../events/client/client.directory.js';
import { foldText } from '../../platform/foldText.js';
import type { Reader } from '../reader.js';
import { clientProjection, type ClientDocument } from './client.projection.js';

/** The client with its address and name decrypted; `null` when there is none, or it was erased. */
export const readClient = async (
  reader: Reader,
  clientId: string,
): Promise<{ readonly client: ClientDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await reader.read(clientProjection, clientId);
  const client = document === null ? null : await decrypted(reader, document);
  return client === null ? null : { client, revision };
};

/**
 * The client as of the revision `through` of its stream, whatever came since. What belongs to
 * somebody who was erased by now reads `[erased]`.
 */
export const readClientAsOf = async (
  { read, personal }: Reader,
  clientId: string,
  through: bigint,
): Promise<{ readonly client: ClientDocument; readonly revision: bigint } | null> => {
  const { document, revision } = await read(clientProjection, clientId, through);
  if (document === null) return null;
  const { email, name } = document;
  const readable = {
    email: await personal.display(email),
    ...(name !== undefined && { name: await personal.display(name) }),
  };
  return { client: { ...document, ...readable }, revision };
};

const decrypted = async ({ personal }: Reader, document: ClientDocument): Promise<ClientDocument | null> => {
  const { name: encryptedName, ...others } = document;
  const email = await personal.decrypt(document.email);
  if (email === null) return null;
  const name = encryptedName === undefined ? null : await personal.decrypt(encryptedName);
  return { ...others, email, ...(name !== null && { name }) };
};

const pageSize = 200;

/**
 * Clients, newest first, with address and name decrypted. `q` matches a part of either; no index of
 * encrypted texts can answer that, so every client is read. `email` matches the whole address.
 */
export const listClients = async (
  reader: Reader,
  query: { q?: string; email?: string; after?: string; limit: number },
): Promise<readonly ClientDocument[]> => {
  const { q = '', email, limit } = query;
  const searched = foldText(q);
  const matches = (client: ClientDocument): boolean =>
    [client.email, client.name ?? ''].some((text) => foldText(text).includes(searched));

  if (email !== undefined) {
    const clientId = await clientIdOfEmail(reader, email.toLowerCase());
    if (clientId === undefined || (query.after !== undefined && clientId >= query.after)) return [];
    const found = await readClient(reader, clientId);
    return found !== null && matches(found.client) ? [found.client] : [];
  }

  const clients: ClientDocument[] = [];
  for (let { after } = query; ;) {
    const size = searched === '' ? limit : pageSize;
    const page = await reader.list(clientProjection, { order: 'descending', ...(after !== undefined && { after }), limit: size });
    for (const client of await Promise.all(page.map(({ body }) => decrypted(reader, body)))) {
      if (client !== null && matches(client)) clients.push(client);
    }
    if (clients.length >= limit || page.length < size) return clients.slice(0, limit);
    after = page.at(-1)?.id;
  }
};
