import { expect, test } from '@jest/globals';
import { createTransferWorld } from './transferWorld.js';

test('the access of a known client is given and taken without the payment provider', async () => {
  const world = await createTransferWorld();
  const { acts } = await world.start();
  const before = structuredClone({ remote: world.remote, billing: await world.billing() });

  await world.link('new');
  expect(await world.roleOf(world.newId)).toBe('viewer');
  await world.untilSettled();
  await world.unlink(world.newId);
  expect(await world.roleOf(world.newId)).toBeUndefined();
  await world.untilSettled();

  expect(acts).toStrictEqual([]);
  expect({ remote: world.remote, billing: await world.billing() }).toStrictEqual(before);
  // The worker was at work all the time: it ends what is owed when the ownership is taken.
  await world.removeOwner(world.oldId);
  await world.untilSettled();
  expect(acts).toContain('endSubscription');
  await world.stop();
});
