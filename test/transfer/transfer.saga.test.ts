import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { isRefusal } from '../../src/commands/decider.js';
import { Refused } from '../../src/commands/refusal.js';
import { inTurn } from '../support/storm.js';
import { mishaps, passTimeUntil, type Mishap } from '../workers/machine.js';
import { permanentFault, transientFault, type Line } from '../workers/remote.js';
import { createTransferWorld, type TransferWorld } from './transferWorld.js';

const smoothly = [
  'append BillingAttemptStarted',
  'findCustomer',
  'createCustomer',
  'append CustomerAttached',
  'append SubscriptionRequested, TransferLedgerDrawnUp',
  'findSubscription',
  'createSubscription',
  'append SubscriptionAttached, TransferItemsDone',
  'append WebsiteOwnerAssigned',
  'append TransferItemsDone',
  'append InvitationAccepted',
  'append TransferCompleted',
  'append BillingAttemptStarted',
  'findSubscription',
  'endSubscription',
  'findSubscription',
  'append SubscriptionEnded, TransferItemsDone',
];

/** With an open offer to somebody else. */
const besideAnother = smoothly
  .toSpliced(10, 0, 'append InvitationRevoked')
  .toSpliced(12, 1, 'append TransferItemsDone, TransferCompleted');

const expectOneOfTwo = async (world: TransferWorld, invitationId: string): Promise<void> => {
  await world.expectSound();
  const [owner, { stage }] = [await world.ownerId(), await world.invitation(invitationId)];
  expect([owner, stage]).toStrictEqual(owner === world.newId ? [world.newId, 'accepted'] : [world.oldId, 'pending']);
  expect(world.remote.customers.filter(({ clientId }) => clientId === world.newId).length).toBeLessThanOrEqual(1);
  const made = world.remote.subscriptions.filter(({ clientId }) => clientId === world.newId);
  expect(made.length).toBeLessThanOrEqual(1);
};

test('with nothing in the way: billing first, then the website, then the end of the one before', async () => {
  const world = await createTransferWorld();
  const invitationId = await world.offer('new', 'price-1');
  await world.link('new');
  await world.claim(invitationId);
  const { acts } = await world.start();
  await world.untilSettled();
  await world.expectSound();
  expect(await world.ownerId()).toBe(world.newId);
  expect(await world.roleOf(world.newId)).toBeUndefined();
  expect(acts).toStrictEqual(smoothly.toSpliced(9, 0, 'append ClientUnlinked'));
  const { claimId = '' } = await world.invitation(invitationId);
  const handover = (await world.billing()).handovers.get(claimId);
  expect(handover).toMatchObject({ payer: 'owner', previousOwnerId: world.oldId, priceId: 'price-1' });
  expect(handover?.items.moves.map(({ item }) => item)).toEqual([
    'ownership',
    'billing_account',
    'subscription',
    'billing_portal',
    'own_link',
    'previous_subscription',
  ]);
  expect([...(handover?.done.keys() ?? [])]).toEqual([
    'billing_account',
    'subscription',
    'ownership',
    'billing_portal',
    'own_link',
    'previous_subscription',
  ]);
  expect(world.remote.subscriptions.map(({ live, priceId }) => [live, priceId])).toStrictEqual([
    [false, undefined],
    [true, 'price-1'],
  ]);
  await world.stop();
});

describe('a mishap in one act, and another worker beside', () => {
  test.each(smoothly.map((act, index) => ({ act, index })))('$index: $act', async ({ act, index }) => {
    for (const mishap of inTurn(mishaps, index)) {
      const world = await createTransferWorld();
      const invitationId = await world.offer();
      await world.claim(invitationId);
      const first = await world.start(new Map([[index, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(first.acts.length > index || first.acts.length >= smoothly.length));
      await world.start();
      await world.untilSettled();
      await expectOneOfTwo(world, invitationId);
      // Only what the provider refuses for good keeps the website from its new owner; an end is
      // never given up.
      const isRefused = mishap === 'is refused' && !act.startsWith('append') && index < 8;
      expect([mishap, await world.ownerId()]).toStrictEqual([mishap, isRefused ? world.oldId : world.newId]);
      await world.stop();
    }
  });
});

/** A line on which calls of one name fail `count` times. */
const failing = (call: string, error: Error, count = Infinity): Line => {
  let left = count;
  return (name, act) => {
    if (name !== call || left === 0) return Promise.resolve().then(act);
    left -= 1;
    return Promise.reject(error);
  };
};

const attaching = [
  'append BillingAttemptStarted',
  'checkAttachment',
  'append AttachmentRequested, TransferLedgerDrawnUp',
  'attachSubscription',
  'append SubscriptionAttached, TransferItemsDone',
  'append WebsiteOwnerAssigned',
  'append TransferItemsDone',
  'markCustomer',
  'append CustomerAttached',
  'append InvitationAccepted',
  'append TransferCompleted',
];

describe('a subscription that exists already', () => {
  const newcomers = ({ remote, oldId }: TransferWorld) => remote.subscriptions.filter(({ clientId }) => clientId !== oldId);

  test('is attached in these steps, with its customer; no other is made', async () => {
    const world = await createTransferWorld();
    const id = world.addSubscription();
    await world.claim(await world.offer('new', undefined, id));
    const { acts } = await world.start();
    await world.untilSettled();
    await world.expectSound();
    expect(acts.slice(0, attaching.length)).toStrictEqual(attaching);
    expect(newcomers(world)).toMatchObject([{ id, clientId: world.newId, websiteId: world.websiteId, live: true }]);
    expect(world.remote.customers.filter(({ clientId }) => clientId === world.newId)).toHaveLength(1);
    await world.stop();
  });

  test.each(attaching.map((act, index) => ({ act, index })))('with a mishap in $index: $act', async ({ act, index }) => {
    for (const mishap of inTurn(mishaps, index)) {
      const world = await createTransferWorld();
      const id = world.addSubscription();
      const invitationId = await world.offer('new', undefined, id);
      await world.claim(invitationId);
      const first = await world.start(new Map([[index, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(first.acts.length > index || first.acts.length >= attaching.length));
      await world.start();
      await world.untilSettled();
      await world.expectSound();
      // Whatever came of the claim, the subscription is not cancelled, and there is no second one.
      const isOwner = (await world.ownerId()) === world.newId;
      expect([mishap, act, (await world.invitation(invitationId)).stage]).toStrictEqual([
        mishap,
        act,
        isOwner ? 'accepted' : 'pending',
      ]);
      const marks = isOwner ? { clientId: world.newId, websiteId: world.websiteId } : { clientId: '', websiteId: '' };
      expect([mishap, act, newcomers(world)]).toMatchObject([mishap, act, [{ id, live: true, ...marks }]]);
      await world.stop();
    }
  });

  test('that has ended since the offer is refused at the claim, with words, and the offer stands', async () => {
    const world = await createTransferWorld();
    const id = world.addSubscription();
    const invitationId = await world.offer('new', undefined, id);
    for (const one of newcomers(world)) one.live = false;
    await world.claim(invitationId);
    const { claimId = '' } = await world.invitation(invitationId);
    await world.start();
    await world.untilSettled();
    await world.expectSound();
    expect(await world.ownerId()).toBe(world.oldId);
    expect((await world.billing()).outcomes.get(claimId)).toMatchObject({ failed: { error: `Subscription ${id} has ended` } });
    expect((await world.invitation(invitationId)).stage).toBe('pending');
    await world.stop();
  });

  test('whose customer the provider refuses to mark is asked on, once the website has its new owner', async () => {
    const world = await createTransferWorld();
    const id = world.addSubscription();
    const invitationId = await world.offer('new', undefined, id);
    await world.claim(invitationId);
    await world.start(undefined, { line: failing('markCustomer', permanentFault('No'), 5) });
    await world.untilSettled();
    await world.expectSound();
    expect([await world.ownerId(), (await world.invitation(invitationId)).stage]).toStrictEqual([world.newId, 'accepted']);
    expect((await world.billing()).accounts.get(world.newId)).not.toHaveProperty('existing');
    await world.stop();
  });

  test('is let go, not cancelled, when the website is archived before it changes hands', async () => {
    const world = await createTransferWorld();
    const id = world.addSubscription();
    await world.claim(await world.offer('new', undefined, id));
    const first = await world.start(undefined, { line: failing('attachSubscription', transientFault(), 1) });
    await passTimeUntil(world.clock, async () => (await world.billing()).accounts.has(world.newId));
    await world.archive();
    await world.untilSettled();
    await world.expectSound();
    expect(newcomers(world)).toMatchObject([{ id, live: true, clientId: '', websiteId: '' }]);
    await first.stop();
    await world.stop();
  });
});

test('a claim that made its claimant the owner is carried on, also when that was not recorded before the provider was away for long', async () => {
  const world = await createTransferWorld();
  const invitationId = await world.offer();
  await world.claim(invitationId);
  let asked = 0;
  // At the first attempt it answers. The failed append is the tick of the ownership.
  const line: Line = (name, act) => {
    if (name === 'findCustomer') asked += 1;
    return asked > 1 && asked < 14 ? Promise.reject(transientFault()) : Promise.resolve().then(act);
  };
  await world.start(new Map([[5, 'fails']]), { line });
  await passTimeUntil(world.clock, () => Promise.resolve(asked > 1));
  const { claimId = '' } = await world.invitation(invitationId);
  expect(await world.ownerId()).toBe(world.newId);
  expect((await world.billing()).handovers.get(claimId)?.done.has('ownership')).toBe(false);
  await world.untilSettled();
  await expectOneOfTwo(world, invitationId);
  expect([await world.ownerId(), (await world.billing()).outcomes.get(claimId)]).toStrictEqual([world.newId, 'completed']);
  await world.stop();
});

test('a subscription that carried the website’s mark before the claim is not cancelled when the claim comes to nothing', async () => {
  const world = await createTransferWorld();
  const id = world.addSubscription(world.websiteId);
  await world.claim(await world.offer('new', undefined, id));
  const first = await world.start(undefined, { line: failing('attachSubscription', transientFault(), 1) });
  await passTimeUntil(world.clock, async () => (await world.billing()).accounts.has(world.newId));
  await world.archive();
  await world.untilSettled();
  expect(world.remote.subscriptions.find((one) => one.id === id)).toMatchObject({ live: true });
  await first.stop();
  await world.stop();
});

describe('a subscription that an earlier claim has left', () => {
  const leave = (world: TransferWorld, priceId: string): void => {
    const { remote, newId: clientId, websiteId } = world;
    remote.customers.push({ id: 'left', clientId });
    remote.subscriptions.push({ id: 'left', customerId: 'left', clientId, websiteId, priceId, live: true });
  };

  test.each([
    ['price-1', 'the claimant’s', ['price-1']],
    ['price-2', 'ended', ['price-1', 'price-2']],
  ])('at price-1 is, by an offer at %s, %s', async (priceId, _, prices) => {
    for (const mishap of [undefined, ...mishaps]) {
      const world = await createTransferWorld();
      leave(world, 'price-1');
      await world.claim(await world.offer('new', priceId));
      // The act after it was found: its end, or the record.
      await world.start(mishap === undefined ? undefined : new Map([[5, mishap]]));
      await world.start();
      await world.untilSettled();
      if ((await world.ownerId()) === world.newId) {
        await world.expectSound();
        const made = world.remote.subscriptions.filter(({ clientId }) => clientId === world.newId);
        expect([mishap, made.map((one) => one.priceId)]).toStrictEqual([mishap, prices]);
        expect([mishap, made.map(({ live }) => live)]).toStrictEqual([
          mishap,
          prices.map((_one, index) => index === prices.length - 1),
        ]);
      }
      await world.stop();
    }
  });
});

describe('a single worker that is restarted after it died', () => {
  test.each(['dies before', 'dies after'] satisfies Mishap[])('%s each act', async (mishap) => {
    for (const index of smoothly.keys()) {
      const world = await createTransferWorld();
      const invitationId = await world.offer();
      await world.claim(invitationId);
      const first = await world.start(new Map([[index, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(first.isDead()));
      await world.start();
      await world.untilSettled();
      await expectOneOfTwo(world, invitationId);
      expect(await world.ownerId()).toBe(world.newId);
      await world.stop();
    }
  });
});

describe('a provider that does not do it', () => {
  test('for now: the claim comes to nothing after a minute, and the next one goes on from there', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    const { claimId = '' } = await world.invitation(invitationId);
    const first = await world.start(undefined, { line: failing('createSubscription', transientFault()) });
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    expect(await world.ownerId()).toBe(world.oldId);
    const outcome = (await world.billing()).outcomes.get(claimId);
    expect(outcome).toStrictEqual({ failed: { error: 'Try again later', transient: true, provider: 'remote', late: false } });
    await first.stop();

    await world.start();
    await world.claim(invitationId);
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    expect(await world.ownerId()).toBe(world.newId);
    await world.stop();
  });

  test('asks to wait longer than somebody would: the claim is given back at once', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    const before = world.clock.now();
    await world.start(undefined, { line: failing('findCustomer', transientFault('Slow down', 3_600_000)) });
    await passTimeUntil(world.clock, async () => (await world.invitation(invitationId)).stage === 'pending');
    expect(world.clock.now() - before).toBeLessThan(2_000);
    await world.stop();
  });

  test('to whom the subscription that is to end does not come off: it is tried for hours, and billed until then', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    await world.start(undefined, { line: failing('endSubscription', permanentFault('No'), 30) });
    await passTimeUntil(world.clock, () => Promise.resolve(world.billed().length === 1), {
      withinMs: 12 * 3_600_000,
      stepMs: 20_000,
    });
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    await world.stop();
  });

  test('and is waited for in an end keeps no new claim waiting', async () => {
    const world = await createTransferWorld();
    await world.claim(await world.offer());
    const first = await world.start(undefined, { line: failing('endSubscription', transientFault('Away', 3_600_000)) });
    await passTimeUntil(world.clock, async () => (await world.billing()).attempts.pause !== undefined);
    const before = world.clock.now();
    const back = await world.offer('old');
    await world.claim(back, 'old');
    await passTimeUntil(world.clock, async () => (await world.invitation(back)).stage === 'accepted');
    expect(world.clock.now() - before).toBeLessThan(10_000);
    expect(await world.ownerId()).toBe(world.oldId);
    await first.stop();
    await world.start();
    await world.untilSettled();
    await world.expectSound();
    await world.stop();
  });
});

const nextTurns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
};

describe('an owner who is not the owner any more', () => {
  test('by an assignment is billed no longer, and neither is the assigned owner', async () => {
    const world = await createTransferWorld();
    await world.start();
    await world.assign(world.newId);
    await world.untilSettled();
    expect([await world.ownerId(), world.billed()]).toStrictEqual([world.newId, []]);
    await world.stop();
  });

  test('by an assignment to whoever claims it: what a claim that fails has left unanswered is ended', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    const { claimId = '' } = await world.invitation(invitationId);
    let line: 'up' | 'lost' | 'back' = 'up';
    await world.start(undefined, {
      line: async (name, act) => {
        if (line === 'lost') throw transientFault();
        const answer = await act();
        if (line === 'back' || name !== 'createSubscription') return answer;
        line = 'lost';
        throw transientFault();
      },
    });
    await passTimeUntil(world.clock, () => Promise.resolve(line === 'lost'));
    await world.assign(world.newId);
    await passTimeUntil(world.clock, async () => (await world.billing()).outcomes.has(claimId));
    expect(world.billed()).toHaveLength(2);
    line = 'back';
    await world.untilSettled();
    expect([await world.ownerId(), world.billed()]).toStrictEqual([world.newId, []]);
    await world.stop();
  });

  test('by an erasure is billed no longer', async () => {
    const world = await createTransferWorld();
    await world.removeOwner(world.oldId);
    await world.start();
    await world.untilSettled();
    expect([await world.ownerId(), world.billed()]).toStrictEqual([undefined, []]);
    await world.stop();
  });

  test('because what is ended stays there at the provider, is tried on', async () => {
    const world = await createTransferWorld();
    await world.assign(world.newId);
    let deaf = 25;
    const line: Line = (name, act) => {
      if (name !== 'endSubscription' || deaf === 0) return Promise.resolve().then(act);
      deaf -= 1;
      return Promise.resolve(undefined as ReturnType<typeof act>);
    };
    await world.start(undefined, { line });
    await world.untilSettled();
    expect(world.billed()).toStrictEqual([]);
    const errors = (await world.events()).filter(({ type }) => type === 'BillingAttemptFailed').map(({ data }) => data.error);
    expect(errors).toStrictEqual(Array.from({ length: 2 }, () => 'What was ended is still there'));
    await world.stop();
  });
});

describe('races', () => {
  const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'done';
    } catch (error) {
      if (error instanceof Refused && isRefusal(error.refusal)) return error.message;
      throw error;
    }
  };

  test('claim against cancel: one of them, and the answers say which', async () => {
    const world = await createTransferWorld();
    await world.start();
    const seen = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const invitationId = await world.offer();
      // The claim reads more before it is decided.
      const cancelled = nextTurns(round * 12).then(() => world.cancel(invitationId));
      const both = [world.claim(invitationId), cancelled];
      const outcomes = await Promise.all(both.map(outcomeOf));
      expect(outcomes.toSorted()).toStrictEqual(['Pending transfer not found', 'done']);
      await world.untilSettled();
      await world.expectSound();
      const { stage } = await world.invitation(invitationId);
      seen.add(stage);
      expect(await world.ownerId()).toBe(stage === 'accepted' ? world.newId : world.oldId);
      if (stage !== 'accepted') continue;
      await world.claim(await world.offer('old'), 'old');
      await world.untilSettled();
    }
    expect([...seen].toSorted()).toStrictEqual(['accepted', 'revoked']);
    await world.stop();
  });

  test('two claims by two people: one gets it, the offer to the other is over', async () => {
    const world = await createTransferWorld();
    const [first, second] = [await world.offer('new'), await world.offer('third')];
    await Promise.all([world.claim(first, 'new'), world.claim(second, 'third')]);
    const claims = [await world.invitation(first), await world.invitation(second)];
    await world.start();
    await world.start();
    await world.untilSettled();
    await world.expectSound();
    const stages = [(await world.invitation(first)).stage, (await world.invitation(second)).stage];
    expect(stages.toSorted()).toStrictEqual(['accepted', 'revoked']);
    const { outcomes, claimId } = await world.billing();
    expect(claims.map(({ claimId: of = '' }) => outcomes.get(of)).toSorted()).toStrictEqual(['completed', 'declined']);
    expect(claimId).toBeUndefined();
    expect(world.remote.subscriptions).toHaveLength(2);
    await world.stop();
  });

  test.each(besideAnother.slice(0, 11).map((act, index) => ({ act, index })))(
    'a second claim right after act $index ($act) of the first, whose worker dies: one owner, no offer left open',
    async ({ index }) => {
      const world = await createTransferWorld();
      const [first, second] = [await world.offer('new'), await world.offer('third')];
      await world.claim(first);
      const machine = await world.start(new Map([[index, 'dies after']]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.isDead()));
      expect(machine.acts).toStrictEqual(besideAnother.slice(0, index + 1));
      await world.claim(second, 'third').catch((error: unknown) => {
        // The offer was withdrawn before.
        expect(error).toBeInstanceOf(Refused);
      });
      await world.start();
      await world.untilSettled();
      await world.expectSound();
      expect(await world.ownerId()).toBe(world.newId);
      const stages = [(await world.invitation(first)).stage, (await world.invitation(second)).stage];
      expect(stages).toStrictEqual(['accepted', 'revoked']);
      await world.stop();
    },
  );

  test('a claim that is declined can be made again when the one before it came to nothing', async () => {
    const world = await createTransferWorld();
    const [first, second] = [await world.offer('new'), await world.offer('third')];
    await world.claim(first);
    const machine = await world.start(undefined, { line: failing('createSubscription', transientFault()) });
    await passTimeUntil(world.clock, async () => (await world.billing()).attempts.pause !== undefined);
    await world.claim(second, 'third');
    await passTimeUntil(world.clock, async () => (await world.invitation(second)).stage === 'pending');
    await world.untilSettled();
    await machine.stop();
    expect((await world.invitation(first)).stage).toBe('pending');
    await world.expectSound();

    await world.start();
    await world.claim(second, 'third');
    await world.untilSettled();
    await world.expectSound();
    expect([await world.ownerId(), (await world.invitation(first)).stage]).toStrictEqual([
      (await world.invitation(second)).claimedBy,
      'revoked',
    ]);
    await world.stop();
  });

  test.each([-1, ...besideAnother.keys()])(
    'the claimant is erased after act %d: the claim does not keep the next one out, and nobody else is billed',
    async (index) => {
      const world = await createTransferWorld();
      const [first, second] = [await world.offer('new'), await world.offer('third')];
      await world.claim(first);
      if (index >= 0) {
        const machine = await world.start(new Map([[index, 'sleeps after']]));
        await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > index));
      }
      await world.erase(world.newId);
      await world.start();
      await world.startAccess();
      await world.untilSettled();
      const { stage } = await world.invitation(second);
      // Once the first claimant owned the website, the offer to somebody else is over.
      expect(stage).toBe(index < 8 ? 'pending' : 'revoked');
      if (stage === 'pending') {
        await world.claim(second, 'third');
        await world.untilSettled();
        expect((await world.invitation(second)).stage).toBe('accepted');
        await world.expectSound();
      }
      const owner = await world.ownerId();
      expect(world.billed().filter((clientId) => clientId !== owner)).toStrictEqual([]);
      expect((await world.billing()).claimId).toBeUndefined();
      await world.stop();
    },
  );

  test('the end of another subscription, between two attempts at a claim, leaves that of the claimant alone', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    await world.start(new Map([[6, 'happens, but seems to fail']]));
    await passTimeUntil(world.clock, async () => (await world.billing()).attempts.pause !== undefined, { stepMs: 1 });
    expect(world.billed()).toStrictEqual([world.oldId, world.newId]);
    await world.removeOwner(world.oldId);
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    expect(await world.ownerId()).toBe(world.newId);
    await world.stop();
  });

  test('two claims by the same person, on two workers: one transfer', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await Promise.all([world.start(), world.start()]);
    await Promise.all([world.claim(invitationId), world.claim(invitationId)]);
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    await world.claim(invitationId);
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    await world.stop();
  });

  test('offered again while it is claimed: the claim stands', async () => {
    const world = await createTransferWorld();
    const invitationId = await world.offer();
    await world.claim(invitationId);
    expect(await world.offer()).toBe(invitationId);
    expect((await world.invitation(invitationId)).stage).toBe('claimed');
    await world.start();
    await world.untilSettled();
    await expectOneOfTwo(world, invitationId);
    await world.stop();
  });

  test.each(smoothly.slice(0, 11).map((act, index) => ({ act, index })))(
    'against an assignment to somebody else right after act $index ($act): only the final owner is billed, or nobody',
    async ({ index }) => {
      const world = await createTransferWorld();
      const invitationId = await world.offer();
      await world.claim(invitationId);
      const machine = await world.start(new Map([[index, 'sleeps after']]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > index));
      await world.assign(world.oldId);
      await world.start();
      await world.startAccess();
      await world.untilSettled();
      const owner = await world.ownerId();
      expect(world.billed().filter((clientId) => clientId !== owner)).toStrictEqual([]);
      // What was not accepted when the assignment came is over with it.
      expect((await world.invitation(invitationId)).stage).toBe([8, 9].includes(index) ? 'revoked' : 'accepted');
      // The assignment that came after the transfer holds.
      if (index >= 8) expect(owner).toBe(world.oldId);
      else expect(owner).toBe(world.newId);
      await world.stop();
    },
  );

  test.each([0, 2, 4, 6, 7])(
    'against an assignment to a third client right after act %d: the assignment holds, and nobody is billed',
    async (index) => {
      const world = await createTransferWorld();
      const third = await world.register('third');
      const invitationId = await world.offer();
      await world.claim(invitationId);
      const machine = await world.start(new Map([[index, 'sleeps after']]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > index));
      await world.assign(third);
      await world.start();
      await world.startAccess();
      await world.untilSettled();
      expect([await world.ownerId(), world.billed()]).toStrictEqual([third, []]);
      expect((await world.invitation(invitationId)).stage).toBe('revoked');
      await world.stop();
    },
  );

  test.each([2, 4, 6, 7])(
    'archived right after act %d: nobody new owns or is billed; restored, it can be claimed',
    async (index) => {
      const world = await createTransferWorld();
      const invitationId = await world.offer();
      await world.claim(invitationId);
      const machine = await world.start(new Map([[index, 'sleeps after']]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > index));
      await world.archive();
      await world.untilSettled();
      await world.expectSound();
      expect([await world.ownerId(), (await world.invitation(invitationId)).stage]).toStrictEqual([world.oldId, 'pending']);
      await world.restore();
      await world.claim(invitationId);
      await world.untilSettled();
      await world.expectSound();
      expect(await world.ownerId()).toBe(world.newId);
      await world.stop();
    },
  );
});
