import { beforeEach, expect, test } from '@jest/globals';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { createClient, changeClient } from '../../src/commands/client/client.handlers.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import type { DomainEvent } from '../../src/events/envelope.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import { projections } from '../../src/projections/catalogue.js';
import { clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { createProjector } from '../../src/projections/runner/projector.js';
import { startEngine, type EngineProcess } from '../support/engineProcess.js';
import { newWebsite } from '../support/erasable.js';
import { someAdmin } from '../support/given.js';
import { accessStream, invitationIdFor } from '../../src/events/access/access.stream.js';
import { clientEmailStream, clientStream } from '../../src/events/client/client.stream.js';
import { eraseWhole, erasureOf } from '../support/process.js';

/**
 * What was written before personal data was encrypted stands in the log as it was, and goes on
 * working.
 */

const email = 'anna@example.com';
let local: EngineProcess;

beforeEach(async () => {
  local = await startEngine();
});

const write = async (stream: string, ...events: readonly DomainEvent[]): Promise<void> => {
  const { engine, eventStore } = local;
  const metadata = { at: '2026-01-01T00:00:00.000Z', actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };
  const encoded = events.map((event) => engine.codec.encode(event, engine.ids.commandId(), metadata));
  await eventStore.append(stream, encoded, NO_STREAM);
};

const writeClient = async (clientId: string): Promise<void> => {
  await write(clientEmailStream.name({ emailIndex: local.engine.blindIndex(email) }), {
    type: 'ClientEmailReserved',
    data: { clientId },
  });
  await write(clientStream.name({ clientId }), { type: 'ClientRegistered', data: { clientId, email, name: 'Anna' } });
};

test('a client is read, found and renamed', async () => {
  await writeClient('c1');
  expect(await clientIdOfEmail(local.engine, email)).toBe('c1');
  expect((await readClient(local.engine, 'c1'))?.client).toMatchObject({ id: 'c1', email, name: 'Anna' });
  await changeClient(local.engine, 'c1', { name: 'Anna B.' }, local.context());
  expect((await readClient(local.engine, 'c1'))?.client.name).toBe('Anna B.');
});

test('an invitation is taken up', async () => {
  const websiteId = await newWebsite(local, 'bakery');
  const key = { websiteId, clientId: '1'.repeat(26) };
  const invitationId = invitationIdFor('0'.repeat(26), key);
  const data = { ...key, invitationId, kind: 'client_access', email, role: 'viewer' };
  await write(accessStream.name(key), {
    type: 'InvitationIssued',
    data: { ...data, expiresAt: '2999-01-01T00:00:00.000Z', sendMail: true },
  });
  const claim = (verifiedEmail: string) =>
    claimInvitation(local.engine, { invitationId, subject: 'idp|anna', verifiedEmail }, local.context());
  await expect(claim('berta@example.com')).rejects.toEqual(new Refused(refusals.notYourInvitation()));
  const { clientId } = await claim(email);
  expect((await readClient(local.engine, clientId))?.client.email).toBe(email);
});

test('a client is erased, and the address may be used again', async () => {
  const { engine } = local;
  const projector = createProjector({ ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
  await projector.start();
  try {
    await writeClient('c1');
    await eraseWhole(engine, erasureOf(engine), 'c1', local.context());
    expect(await readClient(engine, 'c1')).toBeNull();
    await expect(eraseWhole(engine, erasureOf(engine), 'c1', local.context())).rejects.toEqual(
      new Refused(refusals.clientNotFound('c1')),
    );
    const clientId = await createClient(engine, { email }, local.context());
    expect((await readClient(engine, clientId))?.client.email).toBe(email);
  } finally {
    await projector.stop();
  }
});
