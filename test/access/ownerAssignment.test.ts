import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  addClient,
  changeAccess,
  offerTransfer,
  removeClient,
  restoreClient,
} from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { bindClientSubject, createClient } from '../../src/commands/client/client.handlers.js';
import { eraseClient } from '../../src/commands/erasure/erasure.handlers.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { changeWebsite, createWebsite, removeOwner, transferOwnership } from '../../src/commands/website/website.handlers.js';
import { accessFold, linkRole, type InvitationState } from '../../src/events/access/access.state.js';
import { keyOfInvitation } from '../../src/events/access/access.stream.js';
import { websiteFold } from '../../src/events/website/website.state.js';
import { systemClock } from '../../src/platform/clock.js';
import { entityId } from '../../src/platform/ids.js';
import { openTransfers } from '../../src/projections/access/access.queries.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { createAccessWorker } from '../../src/workers/access/accessWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { clientActor, logOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import { createMortal, newWebsite, noTargets } from '../support/erasable.js';
import { eventually } from '../support/eventually.js';
import { after, unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { onFolder } from '../support/onFolder.js';
import { partsOf } from '../support/process.js';
import { temporaryFolder } from '../support/temporary.js';
import { engineOn } from '../workers/engines.js';
import { positionOf } from '../workers/positions.js';

let local: EngineProcess;
let other: EngineProcess;
let projector: Projector;
let worker: Worker;
let websiteId: string;

beforeEach(async () => {
  const folder = temporaryFolder();
  [local, other] = [await startEngine(systemClock, folder), await startEngine(systemClock, folder)];
  projector = createProjector({ ...other.engine, projections, decode: (stored) => other.engine.codec.decode(stored) });
  await projector.start();
  worker = createAccessWorker(partsOf(other.engine));
  websiteId = await newWebsite(local, 'bakery');
});

afterEach(async () => {
  await worker.stop();
  await projector.stop();
});

const addressOf = (name: string): string => `${name}@example.com`;
const makeClient = (name: string): Promise<string> => createClient(local.engine, { email: addressOf(name) }, local.context());
const link = (name: string, { engine, context } = local) =>
  addClient(engine, { websiteId, email: addressOf(name), role: 'editor' }, context());
const assign = (clientId: string, { engine, context } = local) => changeWebsite(engine, { websiteId, clientId }, context());

const offer = async (name: string): Promise<string> => {
  const { handled } = await offerTransfer(local.engine, { websiteId, email: addressOf(name), sendMail: false }, local.context());
  return [...handled.state.invitations.keys()].at(-1) ?? '';
};

const claim = (invitationId: string, name: string) =>
  claimInvitation(
    local.engine,
    { invitationId, subject: name, verifiedEmail: addressOf(name) },
    local.context({ actor: clientActor(name) }),
  );

const roleOf = async (clientId: string): Promise<string | undefined> =>
  linkRole((await local.engine.state(accessFold, { websiteId, clientId })).state);
const ownerId = async (): Promise<string | undefined> => {
  const { state } = await local.engine.state(websiteFold, { websiteId });
  return state.stage === 'none' ? undefined : state.clientId;
};
const stageOf = async (invitationId: string): Promise<InvitationState['stage'] | undefined> => {
  const key = keyOfInvitation(invitationId);
  return key === null ? undefined : (await local.engine.state(accessFold, key)).state.invitations.get(invitationId)?.stage;
};

const erase = (clientId: string) =>
  eraseClient(other.engine, { findTargets: () => Promise.resolve(noTargets) }, clientId, other.context());

const untilUnlinked = (clientId: string): Promise<true> =>
  eventually('the removal of the link', async () => ((await roleOf(clientId)) === undefined ? true : undefined));

/** The claim of the offer has failed. */
const release = async (invitationId: string): Promise<void> => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Error('no invitation');
  const { claimId = '' } = (await local.engine.state(accessFold, key)).state.invitations.get(invitationId) ?? {};
  await changeAccess(local.engine, { type: 'ReleaseTransfer', ...key, invitationId, claimId }, local.context());
};

/** Until the worker has handled every event, and has nothing more to append. */
const untilHandled = async (): Promise<void> => {
  await worker.start();
  await eventually('the reactions', async () => {
    const end = await other.eventStore.lastPosition();
    return (await positionOf(other.engine.records, 'access')) === String(end) ? true : undefined;
  });
};

describe('an assignment that is interrupted', () => {
  test('at any moment leaves no link and no older offer, without anybody asking', async () => {
    for (let diesAt = 0, survived = false; !survived; diesAt += 1) {
      websiteId = await newWebsite(local, `bakery-${String(diesAt)}`);
      const clientId = await makeClient(`ana${String(diesAt)}`);
      await link(`ana${String(diesAt)}`);
      const offered = await offer(`ben${String(diesAt)}`);
      const { act } = createMortal(diesAt);
      const mortal = engineOn({
        ...local,
        eventStore: { ...local.eventStore, append: (...asked) => act(() => local.eventStore.append(...asked)) },
      });
      const openOffers = await openTransfers(other.engine, websiteId);
      survived = await changeWebsite(mortal, { websiteId, clientId, openOffers }, local.context()).then(
        () => true,
        () => false,
      );
      if (diesAt === 0) {
        expect([await roleOf(clientId), await stageOf(offered)]).toEqual(['editor', 'pending']);
        continue;
      }
      expect(await ownerId()).toBe(clientId);
      const isSettled = async () => (await roleOf(clientId)) === undefined && (await stageOf(offered)) === 'revoked';
      if (survived) {
        expect(await isSettled()).toBe(true);
        continue;
      }
      const repairing = createAccessWorker(partsOf(other.engine));
      await repairing.start();
      await eventually('the repair', async () => ((await isSettled()) ? true : undefined));
      await repairing.stop();
    }
  });

  test('by kill -9 right after the owner was assigned', async () => {
    const folder = temporaryFolder();
    const script = ['../support/eventStoreTypescript.mjs', '../support/assignOwnerProcess.ts'] as const;
    const [hooks, program] = script.map((file) => fileURLToPath(new URL(file, import.meta.url)));
    await onFolder(folder, async (engine) => {
      const process = { ...local, engine };
      websiteId = await newWebsite(process, 'studio');
      const clientId = await createClient(engine, { email: addressOf('ana') }, local.context());
      await link('ana', process);
      const child = spawn(globalThis.process.execPath, ['--import', hooks ?? '', program ?? '', folder, websiteId, clientId]);
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      const { state } = await engine.state(websiteFold, { websiteId });
      expect(state).toMatchObject({ clientId });
      const role = async () => linkRole((await engine.state(accessFold, { websiteId, clientId })).state);
      expect(await role()).toBe('editor');

      const started = createAccessWorker(partsOf(engine));
      await started.start();
      await eventually('the removal of the link', async () => ((await role()) === undefined ? true : undefined));
      await started.stop();
    });
  });

  test('before it saw that the client was erased takes the website from them again', async () => {
    const clientId = await makeClient('ana');
    local.eventStore.appendFaults.push(
      after(() => erase(clientId)),
      unavailable,
    );
    await expect(assign(clientId)).rejects.toThrow('down');
    expect(await ownerId()).toBe(clientId);
    await worker.start();
    await eventually('the removal of the owner', async () => ((await ownerId()) === undefined ? true : undefined));
  });

  test('with the website itself, before it saw that the client was erased, takes it from them too', async () => {
    const clientId = await makeClient('ana');
    const context = local.context();
    const input = {
      name: 'Studio',
      slug: 'studio',
      templateId: 'business',
      tier: 'starter',
      collaborators: [],
      clientId,
    } as const;
    const slugIsReserved: AppendFault = (append) => append();
    local.eventStore.appendFaults.push(
      slugIsReserved,
      after(() => erase(clientId)),
      unavailable,
    );
    await expect(createWebsite(local.engine, input, context)).rejects.toThrow('down');
    websiteId = entityId(context.commandId, 'website');
    expect(await ownerId()).toBe(clientId);
    await worker.start();
    await eventually('the removal of the owner', async () => ((await ownerId()) === undefined ? true : undefined));
  });
});

test('a pending invitation ends with the ownership that its person got instead, also when that was interrupted', async () => {
  const pending = async (name: string): Promise<string> => {
    const { handled } = await link(name);
    return [...handled.state.invitations.keys()].at(-1) ?? '';
  };
  const [ana, ben] = [await pending('ana'), await pending('ben')];
  await assign(await makeClient('ana'));
  expect(await stageOf(ana)).toBe('accepted');
  await expect(claim(ana, 'ana')).rejects.toEqual(new Refused(refusals.alreadyOwner()));

  const clientId = await makeClient('ben');
  local.eventStore.appendFaults.push(
    after(() => Promise.resolve()),
    unavailable,
  );
  await expect(assign(clientId)).rejects.toThrow('down');
  expect([await ownerId(), await stageOf(ben)]).toEqual([clientId, 'pending']);
  await worker.start();
  await eventually('the end of the invitation', async () => ((await stageOf(ben)) === 'accepted' ? true : undefined));

  const cleo = await pending('cleo');
  const third = await makeClient('cleo');
  await transferOwnership(local.engine, { websiteId, clientId: third, offerPosition: 1n << 62n }, local.context());
  expect([await ownerId(), await stageOf(cleo)]).toEqual([third, 'accepted']);

  await removeOwner(local.engine, { websiteId, clientId: third }, local.context());
  for (const [invitation, name] of [
    [ana, 'ana'],
    [ben, 'ben'],
    [cleo, 'cleo'],
  ] as const) {
    await expect(claim(invitation, name)).rejects.toEqual(new Refused(refusals.invitationNotFound(invitation)));
  }
});

test('an assignment that is repeated leaves a link that was given since', async () => {
  const clientId = await makeClient('ana');
  const context = local.context();
  const input = { websiteId, clientId };
  await link('ana');
  await changeWebsite(local.engine, input, context);
  expect(await roleOf(clientId)).toBeUndefined();
  await removeOwner(local.engine, input, local.context());
  await link('ana');
  await changeWebsite(local.engine, input, { ...context, isRepetition: true });
  expect([await ownerId(), await roleOf(clientId)]).toEqual([undefined, 'editor']);
});

describe('access that is given and interrupted', () => {
  /** Access that was given and taken away is given back. */
  const giveBack = async (clientId: string) => {
    await link('ana');
    await removeClient(local.engine, { websiteId, clientId }, local.context());
    // The worker has seen the link by then, and reacts to its return.
    await untilHandled();
    await worker.stop();
    worker = createAccessWorker(partsOf(other.engine));
    return () => restoreClient(local.engine, { websiteId, clientId }, local.context());
  };
  const ways: [string, (clientId: string) => Promise<() => Promise<unknown>>][] = [
    ['given', () => Promise.resolve(() => link('ana'))],
    ['given back', giveBack],
  ];

  test.each(ways)('%s, before it saw that the client owns the website by now is taken away', async (_, prepare) => {
    const clientId = await makeClient('ana');
    const give = await prepare(clientId);
    local.eventStore.appendFaults.push(
      after(() => assign(clientId, other)),
      unavailable,
    );
    await expect(give()).rejects.toThrow('down');
    expect(await roleOf(clientId)).toBe('editor');
    await worker.start();
    await untilUnlinked(clientId);
  });

  test.each(ways)('%s, before it saw that the client is erased is taken away', async (_, prepare) => {
    const clientId = await makeClient('ana');
    const give = await prepare(clientId);
    local.eventStore.appendFaults.push(
      after(() => erase(clientId)),
      unavailable,
    );
    await expect(give()).rejects.toThrow('down');
    expect(await roleOf(clientId)).toBe('editor');
    await worker.start();
    await untilUnlinked(clientId);
  });

  test('by an offer, before it saw that the client is erased is withdrawn', async () => {
    const clientId = await makeClient('ana');
    local.eventStore.appendFaults.push(
      after(() => erase(clientId)),
      unavailable,
    );
    await expect(offer('ana')).rejects.toThrow('down');
    const stages = async () =>
      [...(await local.engine.state(accessFold, { websiteId, clientId })).state.invitations.values()].map(({ stage }) => stage);
    expect(await stages()).toEqual(['pending']);
    await worker.start();
    await eventually('the end of the offer', async () => ((await stages())[0] === 'revoked' ? true : undefined));
  });
});

test('a claim of an invitation to another address that ended before the link was written is completed, also after an earlier removal', async () => {
  const clientId = await makeClient('ana');
  const { engine, context } = local;
  await bindClientSubject(engine, clientId, 'idp|ana', context());
  await link('ana');
  await removeClient(engine, { websiteId, clientId }, context());
  const email = 'ana@work.example';
  const { handled } = await addClient(engine, { websiteId, email, role: 'editor' }, context());
  const [invitationId = ''] = handled.state.invitations.keys();
  local.eventStore.appendFaults.push((append) => append(), unavailable);
  const claiming = claimInvitation(engine, { invitationId, subject: 'idp|ana', verifiedEmail: email }, context());
  await expect(claiming).rejects.toThrow('down');
  expect([await stageOf(invitationId), await roleOf(clientId)]).toEqual(['accepted', undefined]);
  await worker.start();
  await eventually('the link', async () => ((await roleOf(clientId)) === 'editor' ? true : undefined));
});

test('a late reaction to an assignment leaves alone what was given, offered or renewed since, and the claim of the owner', async () => {
  const renewed = await offer('cleo');
  const [ana, ben] = [await makeClient('ana'), await makeClient('ben')];
  await assign(ana);
  await assign(ben);
  await link('ana');
  const offered = await offer('ana');
  expect(await offer('cleo')).toBe(renewed);
  const first = websiteId;
  websiteId = await newWebsite(local, 'studio');
  const claimed = await offer('dora');
  const dora = await claim(claimed, 'dora');
  await assign(dora.clientId);
  await untilHandled();
  expect(await stageOf(claimed)).toBe('claimed');
  // Once it has come to nothing, the offer is one that was made before the assignment.
  await release(claimed);
  await eventually('the end of the offer', async () => ((await stageOf(claimed)) === 'revoked' ? true : undefined));
  websiteId = first;
  expect([await roleOf(ana), await stageOf(offered), await stageOf(renewed)]).toEqual(['editor', 'pending', 'pending']);
  await claim(renewed, 'cleo');
  expect(await stageOf(renewed)).toBe('claimed');
});

test('an offer that was made before an assignment cannot be claimed from then on, even before it is withdrawn', async () => {
  const offered = await offer('ana');
  await assign(await makeClient('ben'));
  expect(await stageOf(offered)).toBe('pending');
  const before = await logOf(local);
  await expect(claim(offered, 'ana')).rejects.toEqual(new Refused(refusals.transferNotFound()));
  expect(await logOf(local)).toEqual(before);
});
