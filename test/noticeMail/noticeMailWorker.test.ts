import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { addClient, removeClient, withdrawInvitation } from '../../src/commands/access/access.handlers.js';
import { requestRenewal } from '../../src/commands/access/claim.handlers.js';
import { changeClient, createClient } from '../../src/commands/client/client.handlers.js';
import { clientDecider } from '../../src/commands/client/client.decider.js';
import { addressChangeKey } from '../../src/commands/client/addressChange.handlers.js';
import { clientFold, pendingChange } from '../../src/events/client/client.state.js';
import { START } from '../../src/events/store/eventStore.js';
import type { Mail } from '../../src/integrations/email/port.js';
import { createNoticeMailWorker } from '../../src/workers/noticeMail/noticeMailWorker.js';
import { noticeMailProcess } from '../../src/workers/noticeMail/noticeMail.process.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { lookOf, readMails } from '../support/mails.js';
import { partsOf } from '../support/process.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn } from '../workers/engines.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { positionOf } from '../workers/positions.js';
import { directLine, permanentFault, transientFault, type Line } from '../workers/remote.js';

beforeAll(readMails);

const running: { readonly worker: Worker; readonly clock: TestClock }[] = [];
afterEach(async () => {
  for (const { worker, clock } of running.splice(0)) await stopInVirtualTime(clock, worker);
});

/** A website in virtual time, with workers that tell people of what happens. */
const createWorld = async (line: Line = directLine) => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const website = { name: 'Corner Bakery', slug: 'bakery', templateId: 'business', tier: 'starter' as const, collaborators: [] };
  const { websiteId } = await createWebsite(engine, website, context());
  const sent: Mail[] = [];
  const forgotten: (readonly [string, string])[] = [];
  const start = async (adminEmails = ['one@example.com', 'two@example.com']) => {
    const worker = createNoticeMailWorker({
      ...partsOf(engine),
      email: {
        provider: 'remote',
        send: (mail) => line(mail.to, () => void sent.push(mail)),
        forget: (...asked) => Promise.resolve(void forgotten.push(asked)),
      },
      look: lookOf({ name: 'Corner Studio' }),
      languageOf: (address) => Promise.resolve(address === 'two@example.com' ? 'de' : 'en'),
      adminEmails,
      baseUrl: () => 'https://doorstep.example',
    });
    running.push({ worker, clock });
    await worker.start();
  };
  const untilIdle = async () => {
    const head = String(await stores.eventStore.lastPosition());
    await passTimeUntil(clock, async () => (await positionOf(stores.readModels.records, 'noticeMail')) === head);
  };
  const notices = async () =>
    (await stores.eventStore.readAll({ after: START, filter: { streamPrefixes: ['notice-mail-'] } })).events;
  return { clock, engine, context, websiteId, sent, forgotten, start, untilIdle, notices };
};
type World = Awaited<ReturnType<typeof createWorld>>;

const anna = 'anna@example.com';

test('a known client hears of new access when asked to, once, and by two workers too', async () => {
  const world = await createWorld();
  const { engine, context, websiteId } = world;
  await createClient(engine, { email: anna }, context());
  await createClient(engine, { email: 'silent@example.com' }, context());
  await world.start();
  await world.start();
  await addClient(engine, { websiteId, email: anna, role: 'editor', notify: true }, context());
  await addClient(engine, { websiteId, email: 'silent@example.com', role: 'viewer' }, context());
  await passTimeUntil(world.clock, () => Promise.resolve(world.sent.length > 0));
  await world.untilIdle();
  expect(world.sent).toMatchObject([{ to: anna, subject: 'You have access to Corner Bakery' }]);
  expect(world.sent[0]?.text).toContain('Corner Studio has given you access');
  for (const part of [world.sent[0]?.text, world.sent[0]?.html]) expect(part).toContain('https://doorstep.example/app/');
});

test('every admin hears that an expired invitation is asked for again, once a day', async () => {
  const world = await createWorld();
  const { engine, context, websiteId, clock } = world;
  const { handled } = await addClient(engine, { websiteId, email: anna, role: 'viewer' }, context());
  const { invitationId } = handled.events[0]?.data as { invitationId: string };
  await clock.sleep(31 * 86_400_000);
  await world.start();
  for (let count = 0; count < 2; count += 1) await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
  await passTimeUntil(clock, () => Promise.resolve(world.sent.length === 2));
  await world.untilIdle();
  expect(world.sent.map(({ to }) => to)).toEqual(['one@example.com', 'two@example.com']);
  // An erasure looks for a person's mails, and not for their address in those of others.
  for (const { text, html } of world.sent) expect(`${text} ${html}`).not.toContain(anna);
  expect(world.sent.map(({ subject }) => subject)).toEqual([
    'A new invitation to Corner Bakery is asked for',
    'Um eine neue Einladung zu Corner Bakery wird gebeten',
  ]);
  expect(world.sent[1]?.html).toMatch(/<html[^>]* lang="de"/);
  for (const { text } of world.sent) {
    expect(text).toContain(`\nhttps://doorstep.example/app/websites/${websiteId}/people\n`);
    expect(text).toContain(`/client-invitations/${invitationId}/resend`);
  }
  await clock.advance(86_400_000);
  await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
  await passTimeUntil(clock, () => Promise.resolve(world.sent.length === 4));
});

/** The id of an invitation whose renewal Anna may ask the admins for. */
const expiredInvitation = async ({ engine, context, websiteId, clock }: World): Promise<string> => {
  const { handled } = await addClient(engine, { websiteId, email: anna, role: 'viewer' }, context());
  const { invitationId } = handled.events[0]?.data as { invitationId: string };
  await clock.sleep(31 * 86_400_000);
  return invitationId;
};

test('an admin whose mailbox is full holds up no other', async () => {
  const world = await createWorld((to, act) =>
    to === 'one@example.com' ? Promise.reject(transientFault('Mailbox full')) : Promise.resolve(act()),
  );
  const { engine, context, clock } = world;
  const invitationId = await expiredInvitation(world);
  await world.start();
  await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
  await passTimeUntil(clock, () => Promise.resolve(world.sent.length > 0), { withinMs: 60_000 });
  expect(world.sent).toMatchObject([{ to: 'two@example.com' }]);
});

/** A day on: what was to be sent before has been, and then each admin gets one mail more. */
const requestRenewalAgain = async ({ engine, clock, context, sent }: World, id: string) => {
  const before = sent.length;
  await clock.advance(86_400_000);
  await requestRenewal(engine, { invitationId: id, verifiedEmail: anna }, context());
  await passTimeUntil(clock, () => Promise.resolve(sent.length >= before + 2));
  expect(sent).toHaveLength(before + 2);
};

test('an admin gets one mail, also when the order of the admins changes before it was sent', async () => {
  let isFull = true;
  const world = await createWorld((to, act) =>
    isFull && to === 'one@example.com' ? Promise.reject(transientFault('Mailbox full')) : Promise.resolve(act()),
  );
  const { engine, context, clock } = world;
  const invitationId = await expiredInvitation(world);
  await world.start();
  await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
  await passTimeUntil(clock, () => Promise.resolve(world.sent.length > 0), { withinMs: 60_000 });
  for (const { worker } of running.splice(0)) await stopInVirtualTime(clock, worker);
  isFull = false;
  await world.start(['two@example.com', 'one@example.com']);
  await passTimeUntil(clock, () => Promise.resolve(world.sent.some(({ to }) => to === 'one@example.com')));
  await requestRenewalAgain(world, invitationId);
  expect(world.sent.map(({ to }) => to).slice(0, 2)).toEqual(['two@example.com', 'one@example.com']);
});

test('mails to admins that were begun by their place go on so, and nobody gets a second one', async () => {
  const world = await createWorld();
  const { engine, context, clock } = world;
  const invitationId = await expiredInvitation(world);
  await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
  const { events } = await engine.eventStore.readAll({ after: START, filter: { types: ['InvitationRenewalRequested'] } });
  const noticeId = `${events[0]?.id ?? ''}-admin-0`;
  const attempt = { noticeId, attempt: 1 };
  await engine.handle(noticeMailProcess, { type: 'StartAttempt', ...attempt, worker: 'before' }, context());
  await engine.handle(noticeMailProcess, { type: 'RecordSent', ...attempt }, context());
  await world.start();
  await passTimeUntil(clock, () => Promise.resolve(world.sent.length > 0));
  await requestRenewalAgain(world, invitationId);
  expect(world.sent.map(({ to }) => to)[0]).toBe('two@example.com');
});

test('a new address gets a link that confirms it, the former one hears of the change; what was replaced gets nothing', async () => {
  const world = await createWorld();
  const { engine, context } = world;
  const clientId = await createClient(engine, { email: anna }, context());
  for (const email of ['mistyped@example.org', 'anna@example.org']) {
    await changeClient(engine, clientId, { email }, context());
  }
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage !== 'registered') throw new Error('not registered');
  const changeId = pendingChange(state)?.changeId ?? '';
  await world.start();
  await passTimeUntil(world.clock, () => Promise.resolve(world.sent.length > 0));
  await world.untilIdle();
  expect(world.sent).toMatchObject([{ to: 'anna@example.org', subject: 'Confirm your new address' }]);
  const link = `https://doorstep.example/app/address-changes/${changeId}?key=${addressChangeKey(engine, changeId)}`;
  for (const part of [world.sent[0]?.text, world.sent[0]?.html]) expect(part).toContain(link);
  expect(world.sent[0]?.text).not.toContain(anna);

  const email = await engine.personal.encrypt('anna@example.org', 'anna@example.org');
  await engine.handle(clientDecider, { type: 'ConfirmAddressChange', clientId, changeId, email }, context());
  await passTimeUntil(world.clock, () => Promise.resolve(world.sent.length === 2));
  await world.untilIdle();
  expect(world.sent[1]).toMatchObject({ to: anna, subject: 'Your address at Corner Studio has changed' });
  expect(world.sent[1]?.text).not.toContain('example.org');
});

/** Gives a client access, and asks for the notice of it. */
const giveAccess = async ({ engine, context, websiteId }: World): Promise<string> => {
  const clientId = await createClient(engine, { email: anna }, context());
  await addClient(engine, { websiteId, email: anna, role: 'viewer', notify: true }, context());
  return clientId;
};

test('a client who is erased while a mail to them is under way leaves none behind', async () => {
  let erase = (): Promise<unknown> => Promise.resolve();
  const world = await createWorld(async (_, act) => {
    const result = act();
    await erase();
    return result;
  });
  const clientId = await giveAccess(world);
  const { state } = await world.engine.state(clientFold, { clientId });
  const person = state.stage === 'registered' ? state.email : '';
  erase = () => world.engine.handle(clientDecider, { type: 'EraseClient', clientId }, world.context());
  await world.start();
  await passTimeUntil(world.clock, () => Promise.resolve(world.sent.length > 0));
  await world.untilIdle();
  expect(world.sent).toMatchObject([{ to: anna, person }]);
  expect(world.forgotten).toEqual([[anna, person]]);
});

test.each<[string, number, (world: World) => Promise<unknown>]>([
  [
    'access that was taken away',
    1,
    async (world) => {
      const clientId = await giveAccess(world);
      await removeClient(world.engine, { websiteId: world.websiteId, clientId }, world.context());
    },
  ],
  [
    'the address of a client who is erased',
    2,
    async ({ engine, context }) => {
      const clientId = await createClient(engine, { email: anna }, context());
      await changeClient(engine, clientId, { email: 'anna@example.org' }, context());
      const { state } = await engine.state(clientFold, { clientId });
      const change = state.stage === 'registered' ? pendingChange(state) : undefined;
      const confirm = { clientId, changeId: change?.changeId ?? '', email: change?.email ?? '' };
      await engine.handle(clientDecider, { type: 'ConfirmAddressChange', ...confirm }, context());
      await engine.handle(clientDecider, { type: 'EraseClient', clientId }, context());
    },
  ],
  [
    'an invitation that was revoked',
    2,
    async (world) => {
      const { engine, context } = world;
      const invitationId = await expiredInvitation(world);
      await requestRenewal(engine, { invitationId, verifiedEmail: anna }, context());
      await withdrawInvitation(engine, 'RevokeInvitation', { websiteId: world.websiteId, invitationId }, context());
    },
  ],
])('nobody hears of %s since', async (_, count, happen) => {
  const world = await createWorld();
  await happen(world);
  await world.start();
  const ended = async () => (await world.notices()).filter(({ type }) => /Dropped|Sent/.test(type));
  await passTimeUntil(world.clock, async () => (await ended()).length === count);
  expect(world.sent).toEqual([]);
});

test('a mail server that is away delays it, one that refuses ends it, and no event tells the address', async () => {
  const faults = [transientFault(), transientFault(), permanentFault(`No such mailbox: ${anna}`)];
  const world = await createWorld((_, act) => {
    const fault = faults.shift();
    return fault === undefined ? Promise.resolve(act()) : Promise.reject(fault);
  });
  await giveAccess(world);
  await world.start();
  const failures = async () => (await world.notices()).filter(({ type }) => type === 'NoticeMailFailed');
  await passTimeUntil(world.clock, async () => (await failures()).length === 3);
  await world.untilIdle();
  expect(world.sent).toEqual([]);
  expect((await failures()).at(-1)?.data).toMatchObject({ error: 'No such mailbox: the recipient' });
  expect((await failures()).map(({ data }) => 'nextAttemptAt' in data)).toEqual([true, true, false]);
});
