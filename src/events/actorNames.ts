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

/** Names actors as of now, so that who was erased has no name; the same one is looked up once. */
export const createActorNames = (parts: Parts): ((actor: Actor) => Promise<NamedActor>) => {
  const named = new Map<string, Promise<NamedActor>>();
  return (actor) => {
    const key = JSON.stringify(actor);
    const known = named.get(key) ?? toActor(parts, actor);
    named.set(key, known);
    return known;
  };
};

const toActor = async (parts: Parts, actor: Actor): Promise<NamedActor> => {
  const subject = await parts.personal.display(actor.subject);
  const name = actor.role === 'system' ? undefined : await nameOf(parts, actor, subject);
  return { ...actor, subject, ...(name !== undefined && { name }) };
};

const nameOf = async (parts: Parts, { tokenId }: Actor, subject: string): Promise<string | undefined> => {
  if (subject === erased) return erased;
  const ofToken = tokenId === undefined ? undefined : await nameOfToken(parts, tokenId);
  return (await nameOfClient(parts, subject)) ?? ofToken ?? (subject.includes('@') ? subject : undefined);
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
