import { join } from 'node:path';
import { expect } from '@jest/globals';
import { addClient } from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import { changeClient } from '../../src/commands/client/client.handlers.js';
import type { ErasureTargets, PersonalDataHolder } from '../../src/commands/erasure/erasure.handlers.js';
import { changeWebsite, createWebsite } from '../../src/commands/website/website.handlers.js';
import { websitesOfClient } from '../../src/projections/access/access.queries.js';
import { clientIdOf, clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { websiteProjection } from '../../src/projections/website/website.projection.js';
import { clientActor, type EngineProcess } from './engineProcess.js';
import { apiKeyFold } from '../../src/events/apiKey/apiKey.state.js';
import { accessFold } from '../../src/events/access/access.state.js';
import { keyOfId } from '../../src/events/apiKey/apiKey.stream.js';
import { createTestOutbox } from './outbox.js';
import type { TestProcess } from './process.js';

/** Of somebody who is nowhere beside their own stream. */
export const noTargets: ErasureTargets = { owned: [], accessible: [], apiKeys: [], otherNames: { addresses: [], subjects: [] } };

/** A person who is everywhere where one can be. */
export interface Erasable {
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly clientId: string;
  /** The address as events hold it. */
  readonly encrypted: string;
  /** A subject that is an address of its own, as a token holds it. */
  readonly encryptedSubject: string;
  /** Websites that they own, are linked to after a claim, and are invited to. */
  readonly owned: string;
  readonly linked: string;
  readonly invited: string;
  readonly invitationId: string;
  readonly apiKeys: readonly string[];
}

export const outboxIn = (folder: string): ReturnType<typeof createTestOutbox> =>
  createTestOutbox({ folder: join(folder, 'outbox') });

type Outbox = ReturnType<typeof outboxIn>;

export const newWebsite = async ({ engine, context }: EngineProcess, slug: string): Promise<string> => {
  const input = { name: slug, slug, templateId: 'business', tier: 'starter', collaborators: [] } as const;
  return (await createWebsite(engine, input, context())).websiteId;
};

/** Invites an address; the id of its invitation and the address as that holds it. */
export const invite = async (
  { engine, context }: EngineProcess,
  websiteId: string,
  email: string,
): Promise<{ readonly invitationId: string; readonly encrypted: string }> => {
  const added = await addClient(engine, { websiteId, email, role: 'editor' }, context());
  const found = [...added.handled.state.invitations].find(([, { stage }]) => stage === 'pending');
  if (found === undefined) throw new Error('nobody was invited');
  const [invitationId, { email: encrypted }] = found;
  return { invitationId, encrypted };
};

export const makeErasable = async (process: EngineProcess, outbox: Outbox, name: string): Promise<Erasable> => {
  const { engine, context } = process;
  const email = `${name}@example.com`;
  const subject = `idp|${name}`;
  const address = `${name}@corp.example`;
  const [owned, linked, invited] = await Promise.all(
    ['owned', 'linked', 'invited'].map((what) => newWebsite(process, `${what}-${name}`)),
  );
  if (owned === undefined || linked === undefined || invited === undefined) throw new Error('no websites');

  const { invitationId, encrypted } = await invite(process, invited, email);
  const claimed = await invite(process, linked, email);
  const { clientId } = await claimInvitation(
    engine,
    { invitationId: claimed.invitationId, subject, verifiedEmail: email, name },
    context({ actor: clientActor(subject) }),
  );
  await changeClient(engine, clientId, { name: `${name} the Second` }, context());
  await changeWebsite(engine, { websiteId: owned, clientId }, context());
  const mint = async (who: { subject: string; verifiedEmail?: string; userName?: string }): Promise<string> =>
    (
      await mintApiKey(
        engine,
        { name: 'ci', role: 'client', callerRole: 'client', scope: 'write', ...who },
        engine.random.bytes(64),
        context(),
      )
    ).id;
  const apiKeys = [
    await mint({ subject, verifiedEmail: email, userName: name }),
    await mint({ subject }),
    await mint({ subject: email }),
    await mint({ subject: address, verifiedEmail: email }),
  ];
  const encryptedSubject = await engine.personal.encryptSubject(address);
  await outbox.send({ id: engine.ids.commandId(), to: email, person: encrypted, subject: 'Hello', html: name, text: name });
  return { name, email, subject, clientId, encrypted, encryptedSubject, owned, linked, invited, invitationId, apiKeys };
};

/**
 * Has access to nothing and appears nowhere, from `ClientErased` on, however far the erasure has
 * come.
 */
export const expectShutOut = async (engine: TestProcess, { clientId, email, subject }: Erasable): Promise<void> => {
  expect(await readClient(engine, clientId)).toBeNull();
  expect(await clientIdOf(engine, subject)).not.toBe(clientId);
  expect(await clientIdOfEmail(engine, email)).not.toBe(clientId);
};

/** Nothing is left, in any process. */
export const expectErased = async (engine: TestProcess, outbox: Outbox, person: Erasable): Promise<void> => {
  await expectShutOut(engine, person);
  for (const text of [person.encrypted, person.encryptedSubject]) expect(await engine.personal.decrypt(text)).toBeNull();
  expect(await websitesOfClient(engine, person.clientId, { limit: 200 })).toEqual([]);
  expect((await engine.read(websiteProjection, person.owned)).document).not.toHaveProperty('clientId');
  const { state: linked } = await engine.state(accessFold, { websiteId: person.linked, clientId: person.clientId });
  expect(linked.link).toBe('removed');
  const { state: invited } = await engine.state(accessFold, { websiteId: person.invited, clientId: person.clientId });
  expect(invited.invitations.get(person.invitationId)?.stage).toBe('revoked');
  for (const id of person.apiKeys) {
    expect((await engine.state(apiKeyFold, { key: keyOfId(id) })).state.stage).toBe('revoked');
  }
  const mails = await outbox.list({ to: person.email, limit: 10 });
  expect(mails.filter(({ text }) => text === person.name)).toEqual([]);
};

/** Counts what is done, and dies at one of these acts: before it, or after it, without telling. */
export const createMortal = (
  diesAt: number,
): { readonly act: <Result>(carryOut: () => Promise<Result>) => Promise<Result>; readonly acts: () => number } => {
  let acts = 0;
  return {
    acts: () => acts,
    act: async (carryOut) => {
      acts += 1;
      if (acts > Math.ceil(diesAt / 2)) throw new Error('dead');
      const result = await carryOut();
      if (diesAt % 2 === 1 && acts === Math.ceil(diesAt / 2)) throw new Error('dead');
      return result;
    },
  };
};

export type Mortal = ReturnType<typeof createMortal>;

export const mortalHolder = (holder: PersonalDataHolder, { act }: Mortal): PersonalDataHolder => ({
  forget: (...person) => act(() => holder.forget(...person)),
});
