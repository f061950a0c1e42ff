import { clientIdOfEmail } from '../../events/client/client.directory.js';
import { foldText, sortKeyOf } from '../../platform/foldText.js';
import { hasTerms, spelledTerms, termsOf, termsOfBeginning, termsWithin, type AskedTerms } from '../../platform/searchTerms.js';
import { pageAfter, partOf, sortedPartOf, sortInParts, toQuery, type PageRequest, type SortPlace } from '../page.js';
import type { Reader } from '../reader.js';
import { clientProjection, type ClientDocument } from './client.projection.js';
import { clientSearchProjection } from './clientSearch.projection.js';
import { clientSubjectProjection } from './clientSubject.projection.js';
import { canonicalAddress } from '../../platform/emailAddress.js';

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
  const { email, name, pendingEmail } = document;
  const readable = {
    email: await personal.display(email),
    ...(name !== undefined && { name: await personal.display(name) }),
    ...(pendingEmail !== undefined && { pendingEmail: await personal.display(pendingEmail) }),
  };
  return { client: { ...document, ...readable }, revision };
};

const decrypted = async ({ personal }: Reader, document: ClientDocument): Promise<ClientDocument | null> => {
  const { name: encryptedName, pendingEmail: encryptedPending, ...others } = document;
  const email = await personal.decrypt(document.email);
  if (email === null) return null;
  const name = encryptedName === undefined ? null : await personal.decrypt(encryptedName);
  const pendingEmail = encryptedPending === undefined ? null : await personal.decrypt(encryptedPending);
  return { ...others, email, ...(name !== null && { name }), ...(pendingEmail !== null && { pendingEmail }) };
};

const pageSize = 200;

/** What clients a list is of. */
export interface ClientFilter {
  /** A part of the address or the name, case and diacritics apart. */
  readonly q?: string;
  /** The whole address. */
  readonly email?: string;
}

/** Fields that clients can be sorted by. */
export const clientSorts = ['email', 'name', 'createdAt'] as const;

/** By what a client stands where it does in a list that is sorted by the field. */
export const clientSortKey = (client: ClientDocument, field: string): string =>
  sortKeyOf((field === 'email' ? client.email : field === 'name' ? client.name : client.createdAt) ?? '');

/**
 * Clients, newest first or sorted by one of `clientSorts`, with address and name
 * decrypted. No index can sort encrypted texts, or find a part of one character, so that every client
 * is read for these, in parts that give way.
 */
export const listClients = async (reader: Reader, query: ClientFilter & PageRequest): Promise<readonly ClientDocument[]> => {
  const { q = '', email, limit, sort } = query;
  const searched = foldText(q);
  const matches = (client: ClientDocument): boolean => textsOf(client).some((text) => foldText(text).includes(searched));

  if (email !== undefined) {
    const clientId = await clientIdOfEmail(reader, canonicalAddress(email));
    const found = clientId === undefined ? null : await readClient(reader, clientId);
    return found === null ? [] : partOf([found.client].filter(matches), query, clientSortKey);
  }

  const terms = reader.personal.blindTerms(spelledTerms(termsWithin(q)));
  if (terms.length > 0) {
    const found = await foundClients(reader, terms, matches, sort === undefined ? query : { limit: Number.MAX_SAFE_INTEGER });
    return sort === undefined ? found : partOf(found, query, clientSortKey);
  }

  if (sort !== undefined && sort.by !== 'createdAt' && searched === '') {
    const wanted = sortedPartOf(await placesBy(reader, sort.by), query);
    const found = await Promise.all(wanted.map(({ id }) => readClient(reader, id)));
    return found.flatMap((one) => (one === null ? [] : [one.client]));
  }

  const isIndexed = sort === undefined || sort.by === 'createdAt';
  const clients: ClientDocument[] = [];
  for (let page = isIndexed ? query : { limit: pageSize }; ;) {
    const size = isIndexed && searched === '' ? limit : pageSize;
    const found = await reader.list(clientProjection, toQuery({ ...page, limit: size }));
    for (const client of await Promise.all(found.map(({ body }) => decrypted(reader, body)))) {
      if (client !== null && matches(client)) clients.push(client);
    }
    const last = found.at(-1);
    const isEnough = isIndexed && clients.length >= limit;
    if (isEnough || found.length < size || last === undefined) break;
    await reader.giveWay();
    page = pageAfter(page, last);
  }
  return isIndexed ? clients.slice(0, limit) : partOf(clients, query, clientSortKey);
};

/** Every client with the key that it is sorted by, in this order: all are decrypted once for the pages of a list. */
const placesBy = (reader: Reader, field: string): Promise<readonly SortPlace[]> =>
  reader.cached(clientProjection, `clients by ${field}`, async () => {
    const places: SortPlace[] = [];
    for (let after: string | undefined; ;) {
      const found = await reader.list(clientProjection, toQuery({ limit: pageSize, ...(after !== undefined && { after }) }));
      for (const client of await Promise.all(found.map(({ body }) => decrypted(reader, body))))
        if (client !== null) places.push({ id: client.id, key: clientSortKey(client, field) });
      after = found.at(-1)?.id;
      if (found.length < pageSize) return sortInParts(places, reader.giveWay);
      await reader.giveWay();
    }
  });

/** The clients that the index finds by all terms, and that match, newest first. */
const foundClients = async (
  reader: Reader,
  terms: readonly string[],
  matches: (client: ClientDocument) => boolean,
  { limit, after }: Pick<PageRequest, 'limit' | 'after'>,
): Promise<readonly ClientDocument[]> => {
  const clients: ClientDocument[] = [];
  const size = Math.min(limit, pageSize);
  for (let last = after; ;) {
    const query = { having: { terms }, order: 'descending', limit: size, ...(last !== undefined && { after: last }) } as const;
    const found = await reader.list(clientSearchProjection, query);
    for (const one of await Promise.all(found.map(({ id }) => readClient(reader, id)))) {
      if (one !== null && matches(one.client)) clients.push(one.client);
    }
    last = found.at(-1)?.id;
    if (clients.length >= limit || found.length < size) return clients.slice(0, limit);
    await reader.giveWay();
  }
};

/**
 * Clients in whose address or name a word begins with the text, then those that contain it; the
 * newest of each first. A text of one or two characters finds beginnings only.
 */
export const searchClients = async (reader: Reader, text: string, limit: number): Promise<readonly ClientDocument[]> => {
  const searched = foldText(text);
  const contains = (client: ClientDocument): boolean => textsOf(client).some((one) => foldText(one).includes(searched));
  const find = async (terms: AskedTerms | null): Promise<readonly ClientDocument[]> =>
    terms === null ? [] : foundClients(reader, reader.personal.blindTerms(spelledTerms(terms)), contains, { limit });
  const beginning = termsOfBeginning(searched);
  // Of one or two characters there are too many parts for somebody who types.
  const parts = termsWithin(searched).all.length > 0 ? termsWithin(searched) : null;
  const containing = await find(parts);
  const isBegun = (client: ClientDocument): boolean => beginning !== null && hasTerms(termsOf(textsOf(client)), beginning);
  // Fewer than were asked for are all, so that the first of them need not be looked for; nor when
  // all of the newest begin so.
  const isKnown = parts !== null && (containing.length < limit || containing.every(isBegun));
  const begun = isKnown ? containing.filter(isBegun) : await find(beginning);
  return distinct([...begun, ...containing]).slice(0, limit);
};

const textsOf = ({ email, name = '' }: ClientDocument): readonly string[] => [email, name];

const distinct = (clients: readonly ClientDocument[]): readonly ClientDocument[] => [
  ...new Map(clients.map((client) => [client.id, client] as const)).values(),
];

/** How many clients the list is of. */
export const countClients = async (reader: Reader, { q = '', email }: ClientFilter): Promise<number> =>
  q === '' && email === undefined
    ? reader.count(clientProjection, {})
    : (await listClients(reader, { q, ...(email !== undefined && { email }), limit: Number.MAX_SAFE_INTEGER })).length;

/** A subject of the identity provider that is bound to a client; `null` when none is. */
export const subjectOfClient = async (reader: Reader, clientId: string): Promise<string | null> => {
  const [bound] = await reader.list(clientSubjectProjection, { where: { clientId }, order: 'descending', limit: 1 });
  return bound === undefined ? null : reader.personal.decrypt(bound.body.subject);
};
