import { canonicalAddress } from '../platform/emailAddress.js';
import { erased, personKeyOf, type PersonalData } from '../platform/personal.js';
import { apiKeyFold } from './apiKey/apiKey.state.js';
import { keyOfId } from './apiKey/apiKey.stream.js';
import type { ClientDirectory } from './client/client.directory.js';
import { clientFold, clientSubjectFold, type ClientAddresses } from './client/client.state.js';
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

export interface ActorNames {
  /** The actor, named as of now, so that who was erased has no name; the same one is looked up once. */
  readonly toActor: (actor: Actor) => Promise<NamedActor>;
  /** The subjects and names that were given so far, as events hold them: those of people encrypted. */
  readonly people: () => readonly string[];
}

export const createActorNames = (parts: Parts, naming: Naming): ActorNames => {
  const named = new Map<string, Promise<NamedActor>>();
  const people = new Set<string>();
  const nameActor = async (actor: Actor): Promise<NamedActor> => {
    const { subject, name } = await textsOf(parts, actor, naming);
    for (const text of [subject, name]) if (text !== undefined) people.add(text);
    const { personal } = parts;
    return {
      ...actor,
      subject: await personal.display(subject),
      ...(name !== undefined && { name: await personal.display(name) }),
    };
  };
  return {
    toActor: (actor) => {
      const key = JSON.stringify(actor);
      const known = named.get(key) ?? nameActor(actor);
      named.set(key, known);
      return known;
    },
    people: () => [...people],
  };
};

/** What is shown of an actor, those of people still encrypted. */
const textsOf = async (
  parts: Parts,
  actor: Actor,
  { readerRole, book }: Naming,
): Promise<{ readonly subject: string; readonly name?: string | undefined }> => {
  const subject = await parts.personal.display(actor.subject);
  // Admins stand for the agency, whichever way they came in.
  if (actor.role === 'admin' && readerRole !== 'admin') return { subject: subject.includes('@') ? 'admin' : actor.subject };
  const name = actor.role === 'system' ? undefined : await nameOf(parts, actor, subject, book);
  return { subject: actor.subject, name };
};

const nameOf = async (
  parts: Parts,
  { subject: stored, tokenId }: Actor,
  subject: string,
  book: AddressBook | null | undefined,
): Promise<string | undefined> => {
  if (subject === erased) return erased;
  const ofToken = tokenId === undefined ? undefined : await nameOfToken(parts, tokenId);
  const known = (await nameOfClient(parts, stored, subject)) ?? ofToken ?? (await book?.addressOf?.(subject)) ?? undefined;
  return known ?? (subject.includes('@') ? stored : undefined);
};

/** @param stored the subject as the event holds it */
const nameOfClient = async (parts: Parts, stored: string, subject: string): Promise<string | undefined> => {
  const { state, blindIndex } = parts;
  const { clientId } = (await state(clientSubjectFold, { subjectIndex: blindIndex(subject) })).state;
  if (clientId === undefined) return undefined;
  const client = (await state(clientFold, { clientId })).state;
  if (client.stage === 'none' || (await isOfNextPerson(parts, client, stored, subject))) return undefined;
  return client.stage === 'erased' ? erased : (client.name ?? client.email);
};

/**
 * Whether the subject is an address that the client gave up, in an event of who has it now: for them
 * it has another key.
 */
const isOfNextPerson = async (
  { personal }: Parts,
  { email, formerEmails }: ClientAddresses,
  stored: string,
  subject: string,
): Promise<boolean> => {
  if (formerEmails.length === 0) return false;
  const emails = [email, ...formerEmails];
  const addresses = await Promise.all(emails.map((each) => personal.decrypt(each)));
  const keys = emails.filter((_, index) => addresses[index] === canonicalAddress(subject)).map(personKeyOf);
  return keys.length > 0 && !keys.includes(personKeyOf(stored));
};

const nameOfToken = async ({ state }: Parts, tokenId: string): Promise<string | undefined> => {
  const key = (await state(apiKeyFold, { key: keyOfId(tokenId) })).state;
  return key.stage === 'none' ? undefined : (key.userName ?? key.verifiedEmail);
};
