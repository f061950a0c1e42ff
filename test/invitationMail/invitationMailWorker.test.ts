import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { addClient, changeInvitation } from '../../src/commands/access/access.handlers.js';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import type { EmailSender, Mail } from '../../src/integrations/email/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { createInvitationMailWorker } from '../../src/workers/invitationMail/invitationMailWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { lookOf, readMails } from '../support/mails.js';
import { partsOf } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMachine, mishaps, passTimeUntil, stopInVirtualTime, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { losePosition, positionOf } from '../workers/positions.js';
import { directLine, permanentFault, transientFault, type Line } from '../workers/remote.js';
import { accessStream, invitationIdFor, keyOfInvitation, type AccessKey } from '../../src/events/access/access.stream.js';
import { invitationMailStream } from '../../src/events/invitationMail/invitationMail.stream.js';
import { accessFold } from '../../src/events/access/access.state.js';

const email = 'ada@example.com';
/** Where mails lead, how they look, and in which language. */
const mails = {
  baseUrl: () => 'https://doorstep.example',
  look: lookOf(),
  languageOf: (address: string) => Promise.resolve(address.endsWith('.example.de') ? ('de' as const) : ('en' as const)),
};

beforeAll(readMails);

const workers: { readonly worker: Worker; readonly clock: ReturnType<typeof createTestClock> }[] = [];
afterEach(async () => {
  for (const { worker, clock } of workers.splice(0)) await stopInVirtualTime(clock, worker);
});

/** A website to which people are invited, in virtual time. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const logged: string[] = [];
  const logger = createLogger({ level: 'trace', destination: { write: (line: string) => void logged.push(line) } });
  const engine = engineOn(stores, { clock, logger });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const website = { name: 'Corner Bakery', slug: 'bakery', templateId: 'business', tier: 'starter' as const, collaborators: [] };
  const { websiteId } = await createWebsite(engine, website, context());

  /** Everything that left the house, also what was sent twice. */
  const sent: Mail[] = [];
  const senderOn = (line: Line): EmailSender => ({
    provider: 'remote',
    send: (mail) => line('send', () => void sent.push(mail)),
    forget: () => Promise.resolve(),
  });
  const run = async (worker: Worker): Promise<Worker> => {
    workers.push({ worker, clock });
    await worker.start();
    return worker;
  };
  const invite = async (): Promise<string> => {
    const { handled } = await addClient(engine, { websiteId, email, role: 'editor' }, context());
    const [event] = handled.events;
    if (event?.type !== 'InvitationIssued' && event?.type !== 'InvitationRenewed') throw new Error('nobody was invited');
    return event.data.invitationId;
  };

  return {
    clock,
    engine,
    logged,
    sent,
    websiteId,
    invite,
    change: async (type: 'ResendInvitation' | 'RevokeInvitation', invitationId: string) => {
      // A moment later: an invitation that is renewed at once would be what it was.
      await clock.advance(1_000);
      await changeInvitation(engine, type, { websiteId, invitationId }, context());
    },
    /** Appends to a person's access what no command does yet. */
    record: async (event: AccessEvent) => {
      const key = event.data;
      const { revision } = await engine.state(accessFold, key);
      const metadata = { at: '2026-01-01T00:00:00.000Z', actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };
      await engine.eventStore.append(
        accessStream.name(key),
        [engine.codec.encode(event, engine.ids.commandId(), metadata)],
        revision,
      );
    },
    events: async (invitationId: string) =>
      (await stores.eventStore.readStream(invitationMailStream.name({ invitationId }))).events,
    /** A worker that reaches the sender over `line`. */
    start: (line: Line = directLine) => run(createInvitationMailWorker({ ...partsOf(engine), email: senderOn(line), ...mails })),
    /** A worker on a machine to which things happen. */
    startMachine: async (plan: ReadonlyMap<number, Mishap>) => {
      const machine = createMachine(stores, { world: clock, own: clock }, plan);
      await run(createInvitationMailWorker({ ...partsOf(machine.engine), email: senderOn(machine.line), ...mails }));
      return machine;
    },
    startWith: (sender: EmailSender) => run(createInvitationMailWorker({ ...partsOf(engine), email: sender, ...mails })),
    losePosition: () => losePosition(stores.readModels.records, 'invitationMail'),
    position: () => positionOf(stores.readModels.records, 'invitationMail'),
  };
};

const keyOf = (invitationId: string): AccessKey => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Error('this is no id of an invitation');
  return key;
};

type World = Awaited<ReturnType<typeof createWorld>>;

const typesOf = async (world: World, id: string) => (await world.events(id)).map(({ type }) => type);

/** Until so many mails to the invitation came to an end, one way or the other. */
const untilEnded = (world: World, id: string, count = 1) =>
  passTimeUntil(world.clock, async () => {
    const types = await typesOf(world, id);
    return types.filter((type) => /Sent|Dropped|Parked/.test(type)).length === count;
  });

/** Until a worker has dealt with everything. */
const untilIdle = async (world: World) => {
  const head = String(await world.engine.eventStore.lastPosition());
  await passTimeUntil(world.clock, async () => (await world.position()) === head);
};

describe('an invitation', () => {
  test('is mailed once to its recipient, with the way to accept it', async () => {
    const world = await createWorld();
    await world.start();
    const id = await world.invite();
    await untilEnded(world, id);
    expect(world.sent).toMatchObject([{ to: email, subject: 'You are invited to Corner Bakery' }]);
    expect(world.sent[0]?.text).toContain(`\nhttps://doorstep.example/app/invitations/${id}\n`);
    expect(world.sent[0]?.html).toContain(`href="https://doorstep.example/app/invitations/${id}"`);
    expect(await typesOf(world, id)).toStrictEqual(['InvitationMailStarted', 'InvitationMailSent']);
  });

  test('that is sent again is mailed once more', async () => {
    const world = await createWorld();
    await world.start();
    const id = await world.invite();
    await untilEnded(world, id);
    await world.change('ResendInvitation', id);
    await untilEnded(world, id, 2);
    expect(world.sent.map(({ to }) => to)).toStrictEqual([email, email]);
    expect(new Set(world.sent.map((mail) => mail.id)).size).toBe(2);
  });

  test('issued while no worker ran is mailed when one comes', async () => {
    const world = await createWorld();
    const id = await world.invite();
    await world.start();
    await untilEnded(world, id);
    expect(world.sent).toHaveLength(1);
  });

  test('is kept as a mail file by the embedded outbox', async () => {
    const world = await createWorld();
    const folder = temporaryFolder();
    const outbox = createTestOutbox({ folder, clock: world.clock });
    let isKept = false;
    const waited: EmailSender = { ...outbox, send: (mail) => outbox.send(mail).finally(() => (isKept = true)) };
    await world.startWith(waited);
    const id = await world.invite();
    // Writing a file takes real time: virtual time moves on in small steps meanwhile.
    await passTimeUntil(world.clock, () => Promise.resolve(isKept), { stepMs: 1 });
    const [mail] = await outbox.list({ limit: 10 });
    expect(mail?.links).toStrictEqual([`https://doorstep.example/app/invitations/${id}`]);
    const [file = ''] = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.eml'));
    const message = await simpleParser(await readFile(join(folder, file)));
    expect(message).toMatchObject({ subject: 'You are invited to Corner Bakery', to: { text: email } });
    expect(message.text).toContain(`https://doorstep.example/app/invitations/${id}`);
    expect(message.html).toBe(mail?.html);
  });
});

describe('somebody who is erased', () => {
  const encryptedIn = async (world: World, invitationId: string): Promise<string> => {
    const [event] = (await world.engine.eventStore.readStream(accessStream.name(keyOf(invitationId)))).events;
    return (event as unknown as { data: { email: string } }).data.email;
  };

  test('gets no mail that has not been sent yet', async () => {
    const world = await createWorld();
    const id = await world.invite();
    await world.engine.personal.cryptoShred(await encryptedIn(world, id));
    await world.start();
    await untilEnded(world, id);
    expect(world.sent).toStrictEqual([]);
    expect((await world.events(id)).map(({ type }) => type)).toEqual(['InvitationMailStarted', 'InvitationMailDropped']);
  });

  test('while a mail is under way leaves none behind: the sender is asked to forget it', async () => {
    const world = await createWorld();
    const id = await world.invite();
    const encrypted = await encryptedIn(world, id);
    const recorded: unknown[] = [];
    await world.startWith({
      provider: 'remote',
      send: async ({ to, person }) => {
        recorded.push([to, person]);
        await world.engine.personal.retire(encrypted);
      },
      forget: (...asked) => Promise.resolve(void recorded.push(asked)),
    });
    await untilEnded(world, id);
    expect(recorded).toStrictEqual([
      [email, encrypted],
      [email, encrypted],
    ]);
  });
});

describe('no mail is sent', () => {
  test('to an invitation that asks for none', async () => {
    const world = await createWorld();
    const key = { websiteId: world.websiteId, clientId: '1'.repeat(26) };
    const invitationId = invitationIdFor('0'.repeat(26), key);
    const data = { ...key, invitationId, kind: 'ownership_transfer' as const, email };
    await world.record({ type: 'InvitationIssued', data: { ...data, expiresAt: '2027-01-01T00:00:00.000Z', sendMail: false } });
    await world.start();
    await untilIdle(world);
    expect(world.sent).toStrictEqual([]);
    expect((await world.engine.eventStore.readStream(invitationMailStream.name({ invitationId }))).head).toBe(NO_STREAM);
  });

  test.each([
    ['revoked', (world: World, id: string) => world.change('RevokeInvitation', id)],
    [
      'accepted',
      (world: World, invitationId: string) =>
        world.record({ type: 'InvitationAccepted', data: { ...keyOf(invitationId), invitationId, claimedBy: 'c1' } }),
    ],
    ['expired', (world: World) => world.clock.sleep(30 * 86_400_000)],
  ])('to an invitation that was %s before its turn', async (_, happen) => {
    const world = await createWorld();
    const id = await world.invite();
    await happen(world, id);
    await world.start();
    await untilEnded(world, id);
    expect(world.sent).toStrictEqual([]);
    expect(await typesOf(world, id)).toStrictEqual(['InvitationMailStarted', 'InvitationMailDropped']);
  });

  test('twice, when the worker forgot how far it had read', async () => {
    const world = await createWorld();
    const worker = await world.start();
    const id = await world.invite();
    await untilEnded(world, id);
    await worker.stop();
    await world.losePosition();
    await world.start();
    await untilIdle(world);
    expect(world.sent).toHaveLength(1);
    expect(await typesOf(world, id)).toHaveLength(2);
  });

  test('twice, when two workers run', async () => {
    const world = await createWorld();
    const none = new Map<number, Mishap>();
    await world.startMachine(none);
    await world.startMachine(none);
    for (let count = 0; count < 5; count += 1) {
      const id = await world.invite();
      await untilEnded(world, id, count + 1);
      await world.clock.advance(10_000);
    }
    expect(world.sent).toHaveLength(5);
  });
});

describe('a sender that fails', () => {
  const failing = (errors: readonly Error[]): Line => {
    const left = [...errors];
    return (_, act) => {
      const error = left.shift();
      return error === undefined ? Promise.resolve(act()) : Promise.reject(error);
    };
  };
  const fourTimes = Array.from({ length: 4 }, () => transientFault(`Mailbox of ${email.toUpperCase()} is busy`));

  test('for now is tried again', async () => {
    const world = await createWorld();
    await world.start(failing(fourTimes));
    const id = await world.invite();
    await untilEnded(world, id);
    expect(world.sent).toHaveLength(1);
    expect((await typesOf(world, id)).filter((type) => type === 'InvitationMailFailed')).toHaveLength(4);
  });

  test('for an hour, while the mail server is away, loses no invitation', async () => {
    const world = await createWorld();
    const back = world.clock.now() + 3_600_000;
    await world.start((_, act) => (world.clock.now() < back ? Promise.reject(transientFault('Away')) : Promise.resolve(act())));
    const id = await world.invite();
    await passTimeUntil(world.clock, () => Promise.resolve(world.clock.now() >= back), { withinMs: 4_000_000, stepMs: 60_000 });
    await untilEnded(world, id);
    expect(world.sent).toHaveLength(1);
  });

  test('for good has the mail parked, with the reason; asking again gets another one sent', async () => {
    const world = await createWorld();
    await world.start(failing([permanentFault(`550 <${email}>: no such user`)]));
    const id = await world.invite();
    await untilEnded(world, id);
    expect(world.sent).toStrictEqual([]);
    const reason = '550 <the recipient>: no such user';
    expect((await world.events(id)).at(-1)).toMatchObject({ type: 'InvitationMailParked', data: { reason } });
    await world.change('ResendInvitation', id);
    await untilEnded(world, id, 2);
    expect(world.sent).toHaveLength(1);
  });

  test('puts the address neither into the log nor into an event', async () => {
    const world = await createWorld();
    const unexpected = new Error(`cannot deliver to ${email}`);
    await world.start(failing([...fourTimes.slice(1), unexpected, permanentFault(`550 <${email}>`)]));
    const id = await world.invite();
    await untilEnded(world, id);
    expect(world.logged.length).toBeGreaterThan(4);
    const recorded = [...world.logged, ...(await world.events(id)).map(({ data }) => JSON.stringify(data))].join('\n');
    expect(recorded).toContain('the recipient');
    expect(recorded.toLowerCase()).not.toContain(email);
  });
});

describe.each(mishaps)('when a machine %s', (mishap) => {
  test('at any act, the mail is sent all the same, and any repetition has the same id', async () => {
    for (const [at, act] of ['append InvitationMailStarted', 'send', 'append InvitationMailSent'].entries()) {
      const world = await createWorld();
      const id = await world.invite();
      const machine = await world.startMachine(new Map([[at, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > 0));
      await world.startMachine(new Map());
      await untilEnded(world, id);
      await world.clock.advance(30_000);

      expect(machine.acts[at]).toBe(act);
      const isRefused = mishap === 'is refused' && act === 'send';
      expect((await typesOf(world, id)).at(-1)).toBe(isRefused ? 'InvitationMailParked' : 'InvitationMailSent');
      expect(new Set(world.sent.map((mail) => mail.id)).size).toBe(isRefused ? 0 : 1);
    }
  });
});
