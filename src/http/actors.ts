import { Type, type Static } from 'typebox';
import type { Engine } from '../engine.js';
import { apiKeyFold } from '../events/apiKey/apiKey.state.js';
import { keyOfId } from '../events/apiKey/apiKey.stream.js';
import { clientFold, clientSubjectFold } from '../events/client/client.state.js';
import type { Actor as StoredActor } from '../events/envelope.js';
import { erased } from '../platform/personal.js';

/** Who has done something, in histories and audits. */
export const Actor = Type.Object(
  {
    subject: Type.String({ description: 'As the identity provider knows them; of a process its name.' }),
    name: Type.Optional(
      Type.String({
        description:
          'The name or else the address of the person; `[erased]` of one who was erased. Absent of processes and unknown people.',
        examples: ['Ana Gomes'],
      }),
    ),
    role: Type.Enum(['admin', 'client', 'system']),
    via: Type.Enum(['portal', 'token', 'worker', 'webhook']),
    tokenId: Type.Optional(Type.String({ description: 'The personal access token that was used.' })),
  },
  { $id: 'Actor', description: 'Who has done something.' },
);

type Parts = Pick<Engine, 'state' | 'personal' | 'blindIndex'>;

/** Names actors as of now, so that who was erased has no name; the same one is looked up once. */
export const createActorNames = (parts: Parts): ((actor: StoredActor) => Promise<Static<typeof Actor>>) => {
  const named = new Map<string, Promise<Static<typeof Actor>>>();
  return (actor) => {
    const key = JSON.stringify(actor);
    const known = named.get(key) ?? toActor(parts, actor);
    named.set(key, known);
    return known;
  };
};

const toActor = async (parts: Parts, actor: StoredActor): Promise<Static<typeof Actor>> => {
  const subject = await parts.personal.display(actor.subject);
  const name = actor.role === 'system' ? undefined : await nameOf(parts, actor, subject);
  return { ...actor, subject, ...(name !== undefined && { name }) };
};

const nameOf = async (parts: Parts, { tokenId }: StoredActor, subject: string): Promise<string | undefined> => {
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
