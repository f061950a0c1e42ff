import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addClient } from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { createClient, changeClient } from '../../src/commands/client/client.handlers.js';
import { eraseClient, type PersonalDataHolder } from '../../src/commands/erasure/erasure.handlers.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { changeWebsite } from '../../src/commands/website/website.handlers.js';
import { systemClock } from '../../src/platform/clock.js';
import { websiteRoleOf, websitesOfClient } from '../../src/projections/access/access.queries.js';
import { projections } from '../../src/projections/catalogue.js';
import { clientIdOf } from '../../src/events/client/client.directory.js';
import { listClients, readClient } from '../../src/projections/client/client.queries.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { createErasureWorker } from '../../src/workers/erasure/erasureWorker.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';
import type { VaultRecords } from '../../src/platform/vault/records.js';
import { clientActor, logOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import {
  createMortal,
  expectErased,
  expectShutOut,
  invite,
  makeErasable,
  mortalHolder,
  newWebsite,
  outboxIn,
  type Erasable,
} from '../support/erasable.js';
import { eventually } from '../support/eventually.js';
import { after } from '../support/faultyEventStore.js';
import { temporaryFolder } from '../support/temporary.js';
import { openSecrets, openVaultIn } from '../support/vaults.js';
import { partsOf, eraseWhole, erasureOf } from '../support/process.js';
import { engineOn } from '../workers/engines.js';

let folder: string;
let local: EngineProcess;
let other: EngineProcess;
let projector: Projector;
let outbox: ReturnType<typeof outboxIn>;

beforeEach(async () => {
  folder = temporaryFolder();
  [local, other] = [await startEngine(systemClock, folder), await startEngine(systemClock, folder)];
  projector = createProjector({ ...other.engine, projections, decode: (stored) => other.engine.codec.decode(stored) });
  await projector.start();
  outbox = outboxIn(folder);
});

afterEach(() => projector.stop());

const erase = (
  { clientId }: Pick<Erasable, 'clientId'>,
  { engine, context } = local,
  holders: readonly PersonalDataHolder[] = [outbox],
) => eraseWhole(engine, erasureOf(engine, holders), clientId, context());

/** The key goes last. */
const untilDone = ({ name, encrypted }: Erasable): Promise<true> =>
  eventually(`the erasure of ${name}`, async () =>
    (await other.engine.personal.decrypt(encrypted)) === null ? true : undefined,
  );

describe('a client who is erased', () => {
  test('is nowhere any more; others are as they were', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const berta = await makeErasable(other, outbox, 'berta');
    await erase(anna);
    await expectErased(local.engine, outbox, anna);
    expect((await listClients(other.engine, { limit: 10 })).map(({ email }) => email)).toEqual([berta.email]);
    expect((await readClient(other.engine, berta.clientId))?.client.name).toBe('berta the Second');
    expect(await websitesOfClient(other.engine, berta.clientId, { limit: 200 })).toHaveLength(2);
    expect(await outbox.list({ to: berta.email, limit: 10 })).toHaveLength(1);
  });

  test('is erased once: the second time there is nobody', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    await erase(anna);
    const gone = new Refused(refusals.clientNotFound(anna.clientId));
    await expect(erase(anna)).rejects.toEqual(gone);
    await expect(erase(anna, other)).rejects.toEqual(gone);
    await expect(changeClient(other.engine, anna.clientId, { name: 'X' }, other.context())).rejects.toEqual(gone);
    await expect(erase({ clientId: 'nobody' })).rejects.toEqual(new Refused(refusals.clientNotFound('nobody')));
  });

  test('comes back as somebody else, in every process at once', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    // The other process has seen the key.
    expect((await readClient(other.engine, anna.clientId))?.client.email).toBe(anna.email);
    await erase(anna);
    const { invitationId, encrypted } = await invite(other, anna.linked, anna.email);
    expect(encrypted).not.toBe(anna.encrypted);
    expect(await local.engine.personal.decrypt(encrypted)).toBe(anna.email);
    const { subject, email } = anna;
    const input = { invitationId, subject, verifiedEmail: email };
    const claimed = await claimInvitation(local.engine, input, local.context({ actor: clientActor(subject) }));
    expect(claimed.clientId).not.toBe(anna.clientId);
    expect(await websitesOfClient(other.engine, claimed.clientId, { limit: 200 })).toHaveLength(1);
    expect(await websiteRoleOf(other.engine, { id: anna.owned }, claimed.clientId)).toBeNull();
    await expectErased(local.engine, outbox, anna);
  });

  test('in a dry run stays, and all planned events are returned', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const before = await logOf(local);
    const { engine, planned } = local.engine.plan();
    await eraseClient(engine, erasureOf(local.engine), anna.clientId, local.context());
    expect(await logOf(local)).toEqual(before);
    expect((await readClient(local.engine, anna.clientId))?.client.email).toBe(anna.email);
    expect(await outbox.list({ to: anna.email, limit: 10 })).toHaveLength(1);
    expect(planned.map(({ type }) => type).sort()).toEqual([
      'APIKeyRevoked',
      'APIKeyRevoked',
      'APIKeyRevoked',
      'APIKeyRevoked',
      'ClientEmailReleased',
      'ClientErased',
      'ClientUnlinked',
      'InvitationRevoked',
      'WebsiteOwnerRemoved',
    ]);
    await erase(anna);
    await expectErased(local.engine, outbox, anna);
  });
});

describe('a crash', () => {
  /** A process that dies at an act: an append, a write to the vault, a mail forgotten. */
  const mortalProcess = async (diesAt: number) => {
    const mortal = createMortal(diesAt);
    const { act } = mortal;
    const { records, close } = await openVaultIn(folder, systemClock);
    const own: VaultRecords = {
      get: (...key) => records.get(...key),
      insert: (...entry) => act(() => records.insert(...entry)),
      put: (...entry) => act(() => records.put(...entry)),
      delete: (...key) => act(() => records.delete(...key)),
      purgeExpired: () => records.purgeExpired(),
    };
    const secrets = await openSecrets(own);
    const eventStore = {
      ...local.eventStore,
      append: (...asked: Parameters<typeof local.eventStore.append>) => act(() => local.eventStore.append(...asked)),
    };
    const engine = engineOn({ ...local, eventStore, ...secrets });
    return { ...mortal, engine, holder: mortalHolder(outbox, mortal), close };
  };

  test('at any moment leaves nobody let in, and a worker completes the erasure; a person who came back meanwhile stays', async () => {
    const people: { person: Erasable; begun: boolean; returned?: { invitationId: string; encrypted: string } }[] = [];
    for (let diesAt = 0, survived = false; !survived; diesAt += 1) {
      const person = await makeErasable(local, outbox, `anna${diesAt}`);
      const { engine, holder, close } = await mortalProcess(diesAt);
      const context = local.context();
      survived = await eraseWhole(engine, erasureOf(engine, [holder]), person.clientId, context).then(
        () => true,
        () => false,
      );
      await close();
      const begun = (await readClient(other.engine, person.clientId)) === null;
      if (begun) await expectShutOut(other.engine, person);
      // Half of those come back before the rest is done.
      const isBack = begun && diesAt % 4 < 2;
      people.push({ person, begun, ...(isBack && { returned: await invite(other, person.linked, person.email) }) });
    }
    expect(people.length).toBeGreaterThan(20);

    const worker = createErasureWorker({ ...partsOf(other.engine), erasure: erasureOf(other.engine, [outbox]) });
    await worker.start();
    for (const { person, begun, returned } of people) {
      if (!begun) {
        expect((await readClient(local.engine, person.clientId))?.client.email).toBe(person.email);
        continue;
      }
      await untilDone(person);
      await expectErased(other.engine, outbox, person);
      if (returned === undefined) continue;
      expect(await local.engine.personal.decrypt(returned.encrypted)).toBe(person.email);
      const input = { invitationId: returned.invitationId, subject: person.subject, verifiedEmail: person.email };
      const { clientId } = await claimInvitation(local.engine, input, local.context());
      expect(clientId).not.toBe(person.clientId);
    }
    await worker.stop();
  });
});

test('a key that the vault removed and could not wipe from its files is wiped by the worker', async () => {
  const { records, close } = await openVaultIn(folder, systemClock);
  let isBusy = true;
  let wiped = 0;
  const busy: VaultRecords = {
    ...records,
    delete: async (...key) => {
      await records.delete(...key);
      if (isBusy) throw new ReadModelStoreUnavailable('other processes kept the file busy');
      wiped += 1;
    },
  };
  const engine = engineOn({ ...local, ...(await openSecrets(busy)) });
  const anna = await makeErasable(local, outbox, 'anna');
  await expect(eraseWhole(engine, erasureOf(engine, [outbox]), anna.clientId, local.context())).rejects.toThrow('busy');
  const worker = createErasureWorker({ ...partsOf(engine), erasure: erasureOf(engine, [outbox]) });
  await worker.start();
  isBusy = false;
  await eventually('the wiped file', () => Promise.resolve(wiped > 0 ? true : undefined));
  await worker.stop();
  await close();
});

describe('at the same moment', () => {
  test('two erasures and the worker: one outcome', async () => {
    const worker = createErasureWorker({ ...partsOf(other.engine), erasure: erasureOf(other.engine, [outbox]) });
    await worker.start();
    const anna = await makeErasable(local, outbox, 'anna');
    await Promise.allSettled([erase(anna), erase(anna, other), erase(anna)]);
    await untilDone(anna);
    await expectErased(local.engine, outbox, anna);
    await worker.stop();
  });

  const access = async ({ clientId }: Erasable, id: string) => ({
    role: await websiteRoleOf(local.engine, { id }, clientId),
    websites: await websitesOfClient(local.engine, clientId, { limit: 200 }),
  });
  const none = { role: null, websites: [] };

  test('somebody adds the client to a website', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const websiteId = await newWebsite(local, 'bakery');
    local.eventStore.appendFaults.push(after(() => erase(anna, other)));
    const adding = addClient(local.engine, { websiteId, email: anna.email, role: 'viewer' }, local.context());
    await expect(adding).rejects.toEqual(new Refused(refusals.clientNotFound(anna.clientId)));
    expect(await access(anna, websiteId)).toEqual(none);
  });

  test('the client takes up an invitation', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const { subject, email, invitationId } = anna;
    // The binding of the subject changes nothing any more: the first append is the claim's.
    local.eventStore.appendFaults.push(after(() => erase(anna, other)));
    const claiming = claimInvitation(local.engine, { invitationId, subject, verifiedEmail: email }, local.context());
    await expect(claiming).rejects.toBeInstanceOf(Refused);
    expect(await access(anna, anna.invited)).toEqual(none);
    expect(await clientIdOf(local.engine, subject, email)).toBeUndefined();
  });

  test('the client becomes the owner of a website', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const websiteId = await newWebsite(local, 'bakery');
    local.eventStore.appendFaults.push(after(() => erase(anna, other)));
    const assigning = changeWebsite(local.engine, { websiteId, clientId: anna.clientId }, local.context());
    await expect(assigning).rejects.toEqual(new Refused(refusals.clientNotFound(anna.clientId)));
    expect(await access(anna, websiteId)).toEqual(none);
  });

  test('the address is registered again', async () => {
    const anna = await makeErasable(local, outbox, 'anna');
    const register = () => createClient(other.engine, { email: anna.email, name: 'Anew' }, other.context());
    const [, registered] = await Promise.allSettled([erase(anna), register()]);
    const clientId = registered.status === 'fulfilled' ? registered.value : await register();
    expect(clientId).not.toBe(anna.clientId);
    expect((await readClient(local.engine, clientId))?.client).toMatchObject({ email: anna.email, name: 'Anew' });
    await expectErased(local.engine, outbox, anna);
  });
});
