import { expect, test } from '@jest/globals';
import { passTimeUntil } from '../workers/machine.js';
import { transientFault, type Line } from '../workers/remote.js';
import { createTransferWorld } from './transferWorld.js';

test('a claim at a price leaves a subscription alone that was there before, and which a failed claim has marked', async () => {
  const world = await createTransferWorld();
  const { remote, newId } = world;
  remote.customers.push({ id: 'own', clientId: newId });
  remote.subscriptions.push({ id: 'hand', customerId: 'own', clientId: '', websiteId: '', priceId: 'by-hand', live: true });
  const first = await world.offer('new', undefined, 'hand');
  await world.claim(first);
  let isAway = false;
  // It marks the subscription, and is away from then on.
  const line: Line = async (name, act) => {
    if (isAway) throw transientFault();
    const answer = await Promise.resolve().then(act);
    if (name !== 'attachSubscription') return answer;
    isAway = true;
    throw transientFault();
  };
  await world.start(undefined, { line });
  await passTimeUntil(world.clock, async () => (await world.billing()).outcomes.size > 1);
  await passTimeUntil(world.clock, async () => (await world.billing()).attempts.failures > 9, { withinMs: 900_000 });

  await world.claim(await world.offer('new', 'price-2'));
  isAway = false;
  await world.untilSettled();
  expect(await world.ownerId()).toBe(newId);
  expect(remote.subscriptions.find(({ id }) => id === 'hand')).toMatchObject({ live: true, websiteId: '' });
  const live = remote.subscriptions.filter((subscription) => subscription.live && subscription.websiteId === world.websiteId);
  expect(live).toMatchObject([{ customerId: 'own', priceId: 'price-2' }]);
  await world.stop();
});
