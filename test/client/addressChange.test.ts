import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addClient, offerTransfer } from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import {
  addressChangeKey,
  completeAddressChange,
  confirmAddressChange,
  viewAddressChange,
} from '../../src/commands/client/addressChange.handlers.js';
import { changeClient, createClient } from '../../src/commands/client/client.handlers.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { apiKeyFold } from '../../src/events/apiKey/apiKey.state.js';
import { keyOfId } from '../../src/events/apiKey/apiKey.stream.js';
import { createActorNames } from '../../src/events/actorNames.js';
import { clientIdOf, clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { clientFold, pendingChange, type ClientState } from '../../src/events/client/client.state.js';
import { listClients, readClient } from '../../src/projections/client/client.queries.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { projections } from '../../src/projections/catalogue.js';
import { createErasureWorker } from '../../src/workers/erasure/erasureWorker.js';
import { clientActor, logOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import { eventually } from '../support/eventually.js';
import { unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { eraseWhole, erasureOf, partsOf } from '../support/process.js';
import { temporaryFolder } from '../support/temporary.js';
import { createShiftedClock } from '../support/shiftedClock.js';

const [old, next, third] = ['anna@example.com', 'anna@example.org', 'anna@example.net'] as const;
const month = 30 * 86_400_000;

let clock: ReturnType<typeof createShiftedClock>;
let projector: Projector;
let local: EngineProcess;
let other: EngineProcess;
let clientId: string;
let forgotten: string[];

beforeEach(async () => {
  const folder = temporaryFolder();
  clock = createShiftedClock();
  [local, other] = [await startEngine(clock, folder), await startEngine(clock, folder)];
  projector = createProjector({ ...other.engine, projections, decode: (stored) => other.engine.codec.decode(stored) });
  await projector.start();
  forgotten = [];
  clientId = await createClient(local.engine, { email: old, name: 'Anna' }, local.context());
});

afterEach(() => projector.stop());

const holder = {
  forget: (address: string) => {
    forgotten.push(address);
    return Promise.resolve();
  },
};
const parts = ({ engine } = local) => ({ ...erasureOf(engine), accounts: holder });

const changeIdOf = (state: ClientState): string =>
  state.stage === 'registered' ? (pendingChange(state)?.changeId ?? 'none') : 'none';

/** Asks for the address, and returns the id of the change. */
const request = async (email: string, { engine, context } = local): Promise<string> => {
  const { state } = await changeClient(engine, clientId, { email }, context());
  return changeIdOf(state);
};

const confirm = (changeId: string, process = local, context = process.context()) =>
  confirmAddressChange(process.engine, parts(process), changeId, context);

const found = (address: string) => clientIdOfEmail(other.engine, address);

describe('a new address', () => {
  test('holds once it is confirmed, and the former one is free', async () => {
    const changeId = await request(next);
    expect((await readClient(other.engine, clientId))?.client).toMatchObject({ email: old, pendingEmail: next });
    expect([await found(old), await found(next)]).toEqual([clientId, undefined]);

    expect(await confirm(changeId)).toMatchObject({ status: 'confirmed', address: next });
    const { client } = (await readClient(other.engine, clientId)) ?? {};
    expect(client).toMatchObject({ id: clientId, email: next, name: 'Anna' });
    expect(client).not.toHaveProperty('pendingEmail');
    expect([await found(old), await found(next)]).toEqual([undefined, clientId]);
    expect((await listClients(other.engine, { email: next, limit: 9 })).map(({ id }) => id)).toEqual([clientId]);
    expect(forgotten).toEqual([old]);
    expect(await createClient(other.engine, { email: old }, other.context())).not.toBe(clientId);
  });

  test('leaves the former one to nobody from the change on, also when it is interrupted before that one is released', async () => {
    const changeId = await request(next);
    local.eventStore.appendFaults.push(
      (append) => append(),
      (append) => append(),
      unavailable,
    );
    await expect(confirm(changeId)).rejects.toThrow('down');
    expect((await readClient(other.engine, clientId))?.client.email).toBe(next);
    expect([await found(old), await found(next)]).toEqual([undefined, clientId]);
  });

  test('confirmed again, by anybody, answers as the first time and changes nothing', async () => {
    const changeId = await request(next);
    const context = local.context();
    const first = await confirm(changeId, local, context);
    const log = await logOf(local);
    expect(await confirm(changeId, local, context)).toEqual(first);
    expect(await confirm(changeId, other)).toEqual(first);
    expect(await logOf(local)).toEqual(log);
  });

  test('many at once: one change', async () => {
    const changeId = await request(next);
    const views = await Promise.all([local, other, local, other].map((process) => confirm(changeId, process)));
    expect(views.map(({ status }) => status)).toEqual(Array(4).fill('confirmed'));
    expect((await logOf(local)).filter(([, type]) => type === 'ClientEmailChanged')).toHaveLength(1);
    expect([await found(old), await found(next)]).toEqual([undefined, clientId]);
  });

  test('has a link that a later request, a withdrawal, 30 days or an erasure makes void', async () => {
    const first = await request(next);
    const second = await request(third);
    expect((await confirm(first)).status).toBe('gone');
    await request(old);
    expect((await confirm(second)).status).toBe('gone');
    const late = await request(next);
    clock.shift(month);
    expect((await confirm(late)).status).toBe('expired');
    const again = await request(next);
    expect(again).not.toBe(late);
    await eraseWhole(local.engine, parts(), clientId, local.context());
    expect((await confirm(again)).status).toBe('gone');
    expect((await viewAddressChange(local.engine, 'nonsense')).status).toBe('gone');
    for (const address of [old, next, third]) expect(await found(address)).toBeUndefined();
  });

  test('has a key that nobody can guess', () => {
    const keys = ['one', 'two'].map((changeId) => addressChangeKey(local.engine, changeId));
    expect(addressChangeKey(other.engine, 'one')).toBe(keys[0]);
    expect(keys[0]).not.toBe(keys[1]);
    expect(keys[0]).toMatch(/^[0-9a-z]{26}$/);
  });

  test('may be the former one again, whose key is a new one', async () => {
    await confirm(await request(next));
    expect((await confirm(await request(old))).status).toBe('confirmed');
    expect([await found(old), await found(next)]).toEqual([clientId, undefined]);
    const { state } = await local.engine.state(clientFold, { clientId });
    if (state.stage !== 'registered') throw new Error('not registered');
    // A worker that completes the first change late leaves the address alone.
    const former = { clientId, formerEmail: state.formerEmails[0] ?? '' };
    await completeAddressChange(other.engine, parts(other), former, other.context());
    expect(await found(old)).toBe(clientId);
    expect(await local.engine.personal.isCurrent(state.email)).toBe(true);
  });
});

describe('an address of somebody else', () => {
  test('is refused when it is asked for', async () => {
    await createClient(local.engine, { email: next }, local.context());
    await expect(request(next)).rejects.toEqual(new Refused(refusals.clientEmailTaken()));
    const { websiteId } = await newWebsite();
    await addClient(local.engine, { websiteId, email: third, role: 'viewer' }, local.context());
    await expect(request(third)).rejects.toEqual(new Refused(refusals.clientEmailInvited()));
  });

  test('is refused when it is confirmed', async () => {
    const changeId = await request(next);
    const another = await createClient(other.engine, { email: next }, other.context());
    expect(await confirm(changeId)).toEqual({ status: 'taken' });
    expect([await found(old), await found(next)]).toEqual([clientId, another]);
  });

  test('of two clients who confirm one address at once, one gets it', async () => {
    const mine = await request(next);
    const berta = await createClient(local.engine, { email: 'berta@example.com' }, local.context());
    const { state } = await changeClient(local.engine, berta, { email: next }, local.context());
    const theirs = changeIdOf(state);
    const views = await Promise.all([confirm(mine), confirm(theirs, other)]);
    expect(views.map(({ status }) => status).sort()).toEqual(['confirmed', 'taken']);
  });
});

const newWebsite = () =>
  createWebsite(
    local.engine,
    { name: 'Bakery', slug: 'bakery', templateId: 'business', tier: 'starter', collaborators: [] },
    local.context(),
  );

test('who claims, and whom access is given to, goes by the new address', async () => {
  const { websiteId } = await newWebsite();
  const { handled } = await offerTransfer(local.engine, { websiteId, email: old, sendMail: false }, local.context());
  const { invitationId } = handled.events[0]?.data as { invitationId: string };
  await confirm(await request(next));
  const claim = (verifiedEmail: string, subject: string) =>
    claimInvitation(local.engine, { invitationId, subject, verifiedEmail }, local.context({ actor: clientActor(subject) }));
  await expect(claim(old, 'idp|stranger')).rejects.toEqual(new Refused(refusals.notYourInvitation(old)));
  expect((await claim(next, 'idp|anna')).clientId).toBe(clientId);
  expect(await clientIdOf(other.engine, 'idp|anna')).toBe(clientId);
  const shop = await createWebsite(
    local.engine,
    { name: 'Shop', slug: 'shop', templateId: 'business', tier: 'starter', collaborators: [] },
    local.context(),
  );
  const added = await addClient(local.engine, { websiteId: shop.websiteId, email: next, role: 'viewer' }, local.context());
  expect(added.clientId).toBe(clientId);
  const stranger = await addClient(local.engine, { websiteId: shop.websiteId, email: old, role: 'viewer' }, local.context());
  expect(stranger.clientId).not.toBe(clientId);
});

describe('a subject that was bound by a claim', () => {
  const claimAs = async (subject: string) => {
    const { websiteId } = await newWebsite();
    const { handled } = await offerTransfer(local.engine, { websiteId, email: old, sendMail: false }, local.context());
    const { invitationId } = handled.events[0]?.data as { invitationId: string };
    const input = { invitationId, subject, verifiedEmail: old };
    await claimInvitation(local.engine, input, local.context({ actor: clientActor(subject) }));
  };

  test('is the client by any address, but not by a former one', async () => {
    await claimAs('idp|anna');
    const who = () => Promise.all([undefined, old, next, third].map((email) => clientIdOf(other.engine, 'idp|anna', email)));
    expect(await who()).toEqual([clientId, clientId, clientId, clientId]);
    await confirm(await request(next));
    expect(await who()).toEqual([clientId, undefined, clientId, clientId]);
    await confirm(await request(old));
    expect(await who()).toEqual([clientId, clientId, undefined, clientId]);
  });

  test('is the client again also after a claim by the former address', async () => {
    await claimAs('idp|anna');
    await confirm(await request(next));
    const shop = { name: 'Shop', slug: 'shop', templateId: 'business', tier: 'starter', collaborators: [] } as const;
    const { websiteId } = await createWebsite(local.engine, shop, local.context());
    const { handled } = await offerTransfer(local.engine, { websiteId, email: old, sendMail: false }, local.context());
    const { invitationId } = handled.events[0]?.data as { invitationId: string };
    const input = { invitationId, subject: 'idp|anna', verifiedEmail: old };
    const another = await claimInvitation(local.engine, input, local.context({ actor: clientActor('idp|anna') }));
    expect(another.clientId).not.toBe(clientId);
    expect(await clientIdOf(other.engine, 'idp|anna', old)).toBe(another.clientId);
    expect(await clientIdOf(other.engine, 'idp|anna', next)).toBe(clientId);
  });

  test('is whose the former address is by then', async () => {
    await claimAs('idp|anna');
    await confirm(await request(next));
    const stranger = await createClient(other.engine, { email: old }, other.context());
    expect(await clientIdOf(other.engine, 'idp|anna', old)).toBe(stranger);
  });

  test('that is the former address names the client in what they did, and not in what others do', async () => {
    await claimAs(old);
    const actorAs = async () => ({ ...clientActor(old), subject: await local.engine.personal.encryptSubject(old) });
    const anna = await actorAs();
    const named = (actor: typeof anna) => createActorNames(other.engine, { readerRole: 'admin' }).toActor(actor);
    await confirm(await request(next));
    const stranger = await actorAs();
    expect(await named(anna)).toMatchObject({ subject: old, name: 'Anna' });
    expect(await named(stranger)).toMatchObject({ subject: old, name: old });
    await confirm(await request(old));
    expect(await named(await actorAs())).toMatchObject({ subject: old, name: 'Anna' });
  });

  test.each([old, 'Anna@Example.com'])('is nobody as the former address itself, %s', async (subject) => {
    await claimAs(subject);
    expect(await clientIdOf(other.engine, subject)).toBe(clientId);
    await confirm(await request(next));
    expect(await clientIdOf(other.engine, subject)).toBeUndefined();
    expect(await clientIdOf(other.engine, subject, old)).toBeUndefined();
    expect(await clientIdOf(other.engine, subject, next)).toBe(clientId);
  });
});

test('tokens that vouch for the former address end', async () => {
  const input = { name: 'ci', subject: 'idp|anna', callerRole: 'client', role: 'client', scope: 'write' } as const;
  const { id } = await mintApiKey(local.engine, { ...input, verifiedEmail: old }, local.engine.random.bytes(64), local.context());
  await confirm(await request(next));
  expect((await other.engine.state(apiKeyFold, { key: keyOfId(id) })).state.stage).toBe('revoked');
});

test('a confirmation that is cut off anywhere is completed by the next one, or by the worker', async () => {
  const worker = createErasureWorker({ ...partsOf(other.engine), erasure: parts(other) });
  await worker.start();
  for (let diesAt = 1, survived = false; !survived; diesAt += 1) {
    const [from, to] = [`a${String(diesAt)}@example.com`, `b${String(diesAt)}@example.com`] as const;
    clientId = await createClient(local.engine, { email: from }, local.context());
    const changeId = await request(to);
    const faults = Array.from({ length: diesAt }, (_, index): AppendFault =>
      index + 1 < diesAt ? (append) => append() : unavailable,
    );
    local.eventStore.appendFaults.push(...faults);
    survived = await confirm(changeId).then(
      () => true,
      () => false,
    );
    local.eventStore.appendFaults.splice(0);
    expect((await confirm(changeId, other)).status).toBe('confirmed');
    await eventually('the end of the former address', () => Promise.resolve(forgotten.includes(from) ? true : undefined));
    expect([await found(from), await found(to)]).toEqual([undefined, clientId]);
    expect(diesAt).toBeLessThan(9);
  }
  await worker.stop();
});

test('an erasure covers every address; who has a former one by now stays', async () => {
  await confirm(await request(next));
  const stranger = await createClient(local.engine, { email: old, name: 'Olga' }, local.context());
  await request(third);
  const { state } = await local.engine.state(clientFold, { clientId });
  if (state.stage !== 'registered') throw new Error('not registered');
  const texts = [state.email, ...state.formerEmails, ...[...state.changes.values()].map(({ email }) => email)];
  expect(await Promise.all(texts.map((text) => other.engine.personal.decrypt(text)))).toEqual([next, old, next, third]);
  forgotten.splice(0);
  const mails: string[] = [];
  const mailHolder = { forget: (address: string) => Promise.resolve(void mails.push(address)) };
  await eraseWhole(local.engine, { ...parts(), holders: [mailHolder] }, clientId, local.context());
  expect(await Promise.all(texts.map((text) => local.engine.personal.decrypt(text)))).toEqual([null, null, null, null]);
  expect(new Set(mails)).toEqual(new Set([old, next, third]));
  expect(forgotten).toEqual([next]);
  expect((await readClient(local.engine, stranger))?.client).toMatchObject({ email: old, name: 'Olga' });
  for (const address of [next, third]) expect(await found(address)).toBeUndefined();
});
