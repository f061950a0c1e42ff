import { describe, expect, test } from '@jest/globals';
import { consequenceOf } from '../../src/commands/handleCommand.js';
import type { DeploymentLeaseEvent } from '../../src/events/deployment/deploymentLease.events.js';
import { deploymentLeaseStream } from '../../src/events/deployment/deploymentLease.stream.js';
import { createDeploymentLease, type DeploymentLease } from '../../src/workers/deployment/deploymentLease.js';
import { deploymentLeaseProcess } from '../../src/workers/deployment/deploymentLease.process.js';
import { expectRepeatable, given, now, someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn, type Stores } from '../workers/engines.js';
import { passTimeUntil } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { transientFault } from '../workers/remote.js';

const websiteId = 'w1';
const leaseUntil = '2026-01-02T00:00:06.000Z';

describe('the lease of a website’s deployments', () => {
  const acquired = (attempt: number, worker: string): DeploymentLeaseEvent => ({
    type: 'DeploymentLeaseAcquired',
    data: { websiteId, attempt, worker, leaseUntil },
  });
  const renewed: DeploymentLeaseEvent = { type: 'DeploymentLeaseRenewed', data: { websiteId, attempt: 1, leaseUntil } };
  const released = (attempt: number): DeploymentLeaseEvent => ({
    type: 'DeploymentLeaseReleased',
    data: { websiteId, attempt },
  });
  const start = (attempt: number, worker: string, waitedOut?: bigint) =>
    ({ type: 'StartAttempt', websiteId, attempt, worker, waitedOut, at: now }) as const;
  const release = (attempt: number) => ({ type: 'ReleaseLease', websiteId, attempt }) as const;
  const renew = (lease: bigint, isRecorded = false) =>
    ({ type: 'RenewLease', websiteId, attempt: 1, lease, isRecorded, at: now }) as const;

  test.each([
    ['acquired while it is free', [], start(1, 'a'), [acquired(1, 'a')]],
    ['released by its holder', [acquired(1, 'a')], release(1), [released(1)]],
    ['acquired by the next once it is released', [acquired(1, 'a'), released(1)], start(2, 'b'), [acquired(2, 'b')]],
    ['acquired by who has waited it out', [acquired(1, 'a')], start(2, 'b', 0n), [acquired(2, 'b')]],
    ['acquired again by a holder that has not released it', [acquired(1, 'a')], start(2, 'a'), [acquired(2, 'a')]],
    ['renewed by an event when its record cannot be written', [acquired(1, 'a')], renew(0n), [renewed]],
  ] as const)('is %s', (_, events, command, outcome) => {
    given(deploymentLeaseProcess, events).when(command).then(outcome);
    expectRepeatable(deploymentLeaseProcess, events, command);
  });

  test.each([
    ['acquired while somebody else holds it', [acquired(1, 'a')], start(2, 'b')],
    ['acquired by who has waited out an older sign of life', [acquired(1, 'a'), renewed], start(2, 'b', 0n)],
    ['acquired on what was known before the last release', [acquired(1, 'a'), released(1)], start(1, 'b')],
    ['released by who has lost it', [acquired(1, 'a'), acquired(2, 'b')], release(1)],
    ['released when it is free', [], release(1)],
    ['renewed by an event when its record says it', [acquired(1, 'a')], renew(0n, true)],
    ['renewed by who has lost it', [acquired(1, 'a'), acquired(2, 'b')], renew(0n)],
  ] as const)('is not %s', (_, events, command) => {
    given(deploymentLeaseProcess, events).when(command).then([]);
  });
});

/** What happens in which order, and what ends when it is told to. */
const createActs = () => {
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const act =
    (name: string) =>
    async (assertHeld: () => void): Promise<string> => {
      order.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      assertHeld();
      order.push(`${name} ends`);
      return name;
    };
  const end = (name: string): void => {
    ends.get(name)?.();
  };
  return { order, act, end };
};

/** A process of its own on the stores. */
const leaseOn = (stores: Stores, clock: TestClock) => {
  const engine = engineOn(stores, { clock });
  const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' };
  const lease = createDeploymentLease({ engine, records: engine.records });
  const run = (act: Parameters<DeploymentLease>[2]) => lease(websiteId, () => consequenceOf(engine, context), act);
  return run as (act: (assertHeld: () => void) => Promise<string>) => Promise<string>;
};

const untilHappened = (clock: TestClock, { order }: { order: readonly string[] }, what: string): Promise<void> =>
  passTimeUntil(clock, () => Promise.resolve(order.includes(what)), { stepMs: 500 });

describe('two processes', () => {
  test('act one after the other, and the second begins as soon as the first has ended', async () => {
    const [stores, clock, acts] = [await createMemoryStores(), createTestClock(), createActs()];
    const [one, other] = [leaseOn(stores, clock), leaseOn(stores, clock)];
    const first = one(acts.act('first'));
    await untilHappened(clock, acts, 'first begins');
    const second = other(acts.act('second'));
    // Far longer than a lease lasts without a sign of life.
    const later = clock.now() + 60_000;
    await passTimeUntil(clock, () => Promise.resolve(clock.now() >= later), { stepMs: 500 });
    expect(acts.order).toStrictEqual(['first begins']);
    const before = clock.now();
    acts.end('first');
    expect(await first).toBe('first');
    while (!acts.order.includes('second begins')) await clock.advance(0);
    expect(clock.now()).toBe(before);
    acts.end('second');
    expect(await second).toBe('second');
    const { events } = await stores.eventStore.readStream(deploymentLeaseStream.name({ websiteId }));
    expect(events.map(({ type, data }) => [type, data.attempt])).toStrictEqual([
      ['DeploymentLeaseAcquired', 1],
      ['DeploymentLeaseReleased', 1],
      ['DeploymentLeaseAcquired', 2],
      ['DeploymentLeaseReleased', 2],
    ]);
  });

  test('what one came to grief at it is told, and the other begins at once', async () => {
    const [stores, clock, acts] = [await createMemoryStores(), createTestClock(), createActs()];
    const fault = transientFault();
    await expect(leaseOn(stores, clock)(() => Promise.reject(fault))).rejects.toBe(fault);
    const second = leaseOn(stores, clock)(acts.act('second'));
    while (!acts.order.includes('second begins')) await clock.advance(0);
    acts.end('second');
    expect(await second).toBe('second');
  });

  test('when one sleeps, the other acts after the lease; the sleeper begins nothing with it, and looks again', async () => {
    const [stores, clock, acts] = [await createMemoryStores(), createTestClock(), createActs()];
    const asleep = createTestClock();
    const first = leaseOn(stores, asleep)(acts.act('first'));
    await untilHappened(asleep, acts, 'first begins');
    const second = leaseOn(stores, clock)(acts.act('second'));
    await untilHappened(clock, acts, 'second begins');
    acts.end('second');
    expect(await second).toBe('second');
    await asleep.sleep(20_000);
    acts.end('first');
    while (acts.order.filter((what) => what === 'first begins').length < 2) await asleep.advance(500);
    acts.end('first');
    expect(await first).toBe('first');
    expect(acts.order).toStrictEqual(['first begins', 'second begins', 'second ends', 'first begins', 'first ends']);
  });
});
