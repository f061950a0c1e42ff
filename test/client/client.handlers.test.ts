import { beforeEach, expect, test } from '@jest/globals';
import { bindClientSubject, createClient, ensureClient, changeClient } from '../../src/commands/client/client.handlers.js';
import { reserveClientId } from '../../src/commands/client/clientEmail.handlers.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { clientIdOf, clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { logOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import { unavailable } from '../support/faultyEventStore.js';
import { temporaryFolder } from '../support/temporary.js';

const email = 'anna@example.com';

let local: EngineProcess;
let other: EngineProcess;

beforeEach(async () => {
  const folder = temporaryFolder();
  [local, other] = [await startEngine(undefined, folder), await startEngine(undefined, folder)];
});

const create = ({ engine, context }: EngineProcess, as = context()): Promise<string> =>
  createClient(engine, { email, name: 'Anna' }, as);

const registered = async (): Promise<readonly string[]> =>
  (await logOf(local)).flatMap(([stream, type]) => (type === 'ClientRegistered' ? [stream.slice('client-'.length)] : []));

test('a client is made once for an address', async () => {
  const clientId = await create(local);
  expect((await readClient(other.engine, clientId))?.client).toMatchObject({ id: clientId, email, name: 'Anna' });
  await expect(create(other)).rejects.toEqual(new Refused(refusals.clientEmailTaken()));
  expect(await ensureClient(other.engine, { email, name: 'Berta' }, other.context())).toEqual({ clientId, created: false });
  expect(await registered()).toEqual([clientId]);
});

test('many at once for one address: one client', async () => {
  const made = await Promise.all(
    [local, other, local, other].map(({ engine, context }) => ensureClient(engine, { email }, context())),
  );
  expect(await registered()).toEqual([made[0]?.clientId]);
  expect(new Set(made.map(({ clientId }) => clientId)).size).toBe(1);
});

test('the same command again makes the same client', async () => {
  const as = local.context();
  const clientId = await create(local, as);
  expect(await create(other, as)).toBe(clientId);
  expect(await logOf(local)).toHaveLength(2);
});

test('a client whose address was invited before is made once, by the first registration', async () => {
  const reserved = await reserveClientId(local.engine, email, local.context());
  expect(await clientIdOfEmail(other.engine, email)).toBeUndefined();
  const as = local.context();
  expect(await create(local, as)).toBe(reserved);
  expect(await create(other, as)).toBe(reserved);
  await expect(create(other)).rejects.toEqual(new Refused(refusals.clientEmailTaken()));
  expect(await reserveClientId(other.engine, email, other.context())).toBe(reserved);
  expect(await registered()).toEqual([reserved]);
});

test('an interrupted creation is completed by the next one', async () => {
  local.eventStore.appendFaults.push((append) => append(), unavailable);
  await expect(create(local)).rejects.toThrow(EventStoreUnavailable);
  const clientId = await create(other);
  expect(await clientIdOfEmail(local.engine, email)).toBe(clientId);
  expect(await registered()).toEqual([clientId]);
});

test('neither the address nor the subject can be read from the name of a stream', async () => {
  const clientId = await create(local);
  await bindClientSubject(local.engine, clientId, 'idp|anna', local.context());
  const streams = (await logOf(local)).map(([stream]) => stream);
  expect(streams.join()).not.toMatch(/anna|example|idp/);
  expect(streams).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^client-email-[0-9a-z]{26}$/),
      expect.stringMatching(/^client-subject-[0-9a-z]{26}$/),
    ]),
  );
});

test('a subject is bound to the last client that it proved to be', async () => {
  const first = await create(local);
  const second = await createClient(local.engine, { email: 'berta@example.com' }, local.context());
  const before = await logOf(local);
  for (const clientId of [first, second, second]) await bindClientSubject(local.engine, clientId, 'idp|anna', local.context());
  expect(await clientIdOf(other.engine, 'idp|anna')).toBe(second);
  expect(await logOf(local)).toHaveLength(before.length + 2);
});

test('renaming refuses an unknown client, and what somebody else has changed meanwhile', async () => {
  const rename = (clientId: string, name: string) =>
    changeClient(local.engine, clientId, { name }, local.context(), { expectedRevision: 0n });
  const clientId = await create(local);
  await expect(changeClient(local.engine, 'nobody', { name: 'X' }, local.context())).rejects.toEqual(
    new Refused(refusals.clientNotFound('nobody')),
  );
  await rename(clientId, 'Anna B.');
  await expect(rename(clientId, 'Anna C.')).rejects.toEqual(new Refused(refusals.stale()));
});
