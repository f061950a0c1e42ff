import { erased, type PersonalData } from '../platform/personal.js';
import { apiKeyFold } from './apiKey/apiKey.state.js';
import { keyOfId } from './apiKey/apiKey.stream.js';
import type { ClientDirectory } from './client/client.directory.js';
import { clientFold, clientSubjectFold } from './client/client.state.js';
import type { Actor } from './envelope.js';

/** As it stands in histories and audits. */
export interface NamedActor extends Actor {
  /** Absent of processes and unknown people. */
  readonly name?: string;
}

interface Parts extends ClientDirectory {
  readonly personal: PersonalData;
}

/** Knows the addresses of people who sign in, operators among them. */
export interface AddressBook {
  /** Null when it is not known. */
  addressOf?(subject: string): Promise<string | null>;
}

/** For whom actors are named. */
interface Naming {
  /** The role of who reads the names: to clients an admin has neither a name nor an address. */
  readonly readerRole: Actor['role'];
  /** Names operators, who are no clients: for answers to admins alone. Default: they stay unnamed. */
  readonly book?: AddressBook | null | undefined;
}

/** Names actors as of now, so that who was erased has no name; the same one is looked up once. */
export const createActorNames = (parts: Parts, naming: Naming): ((actor: Actor) => Promise<NamedActor>) => {
  const named = new Map<string, Promise<NamedActor>>();
  return (actor) => {
    const key = JSON.stringify(actor);
    const known = named.get(key) ?? toActor(parts, actor, naming);
    named.set(key, known);
    return known;
  };
};

const toActor = async (parts: Parts, actor: Actor, { readerRole, book }: Naming): Promise<NamedActor> => {
  const subject = await parts.personal.display(actor.subject);
  // Admins stand for the agency, whichever way they came in.
  if (actor.role === 'admin' && readerRole !== 'admin') return { ...actor, subject: subject.includes('@') ? 'admin' : subject };
  const name = actor.role === 'system' ? undefined : await nameOf(parts, actor, subject, book);
  return { ...actor, subject, ...(name !== undefined && { name }) };
};

const nameOf = async (
  parts: Parts,
  { tokenId }: Actor,
  subject: string,
  book: AddressBook | null | undefined,
): Promise<string | undefined> => {
  if (subject === erased) return erased;
  const ofToken = tokenId === undefined ? undefined : await nameOfToken(parts, tokenId);
  const known = (await nameOfClient(parts, subject)) ?? ofToken ?? (await book?.addressOf?.(subject)) ?? undefined;
  return known ?? (subject.includes('@') ? subject : undefined);
};

const nameOfClient = async ({ state, personal, blindIndex }: Parts, subject: string): Promise<string | undefined> => {
  const { clientId } = (await state(clientSubjectFold, { subjectIndex: blindIndex(subject) })).state;
  if (clientId === undefined) return undefined;
  const client = (await state(clientFold, { clientId })).state;
  if (client.stage === 'none') return undefined;
  return client.stage === 'erased' ? erased : personal.display(client.name ?? client.email);
};

const nameOfToken = async ({ state, personal }: Parts, tokenId: string): Promise<string | undefined> => {
  const key = (await state(apiKeyFold, { key: keyOfId(tokenId) })).state;
  const name = key.stage === 'none' ? undefined : (key.userName ?? key.verifiedEmail);
  return name === undefined ? undefined : personal.display(name);
};
