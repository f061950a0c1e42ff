import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inStorm } from '../support/storm.js';
import { mishaps, type Mishap } from '../workers/machine.js';
import { createWorld } from './provisioningWorld.js';

const planOf = (...entries: [number, Mishap][]): ReadonlyMap<number, Mishap> => new Map(entries);

const smoothly = [
  'append ProvisioningQueued',
  'append ProvisioningStepStarted',
  'findRepository',
  'createRepository',
  'append ProvisioningStepSucceeded, ProvisioningStepStarted',
  'listCollaborators',
  'inviteCollaborator',
  'append ProvisioningStepSucceeded, ProvisioningStepStarted',
  'findProject',
  'createProject',
  'append ProvisioningStepSucceeded, ProvisioningStepStarted',
  'readProject',
  'setVariables',
  'append ProvisioningStepSucceeded, ProvisioningStepStarted',
  'findDeployment',
  'deploy',
  'append ProvisioningStepSucceeded, ProvisioningStepStarted',
  'findRepository',
  'readProject',
  'listVariables',
  'visit',
  'append ProvisioningStepSucceeded',
  'append WebsiteActivated',
  'append ProvisioningSucceeded',
];

test('with nothing in the way, the steps run in order and leave one of each', async () => {
  const world = await createWorld();
  const { acts } = await world.start();
  await world.untilEnded();
  await world.expectSound();
  expect(acts).toStrictEqual(smoothly);
  expect([...world.remote.variables]).toStrictEqual([
    ['SITE_NAME', 'Bakery'],
    ['SITE_SLUG', 'bakery'],
    ['SITE_COLOR', '#aa3300'],
    ['SITE_URL', 'https://bakery.example/'],
  ]);
  await world.stop();
});

describe.each(mishaps)('when a machine %s', (mishap) => {
  test('at any act, another one or itself brings the job to its end, and there is one of each', async () => {
    for (const at of smoothly.keys()) {
      const world = await createWorld();
      const machine = await world.start(planOf([at, mishap]));
      await world.untilAtWork();
      await world.start();
      await world.untilEnded();
      expect(machine.acts.length).toBeGreaterThan(at);
      await world.expectSound();
      if (mishap !== 'is refused') expect((await world.job()).status).toBe('succeeded');
      await world.stop();
    }
  });
});

test('when a machine sleeps right before any append, its late result changes nothing', async () => {
  for (const [at, act] of smoothly.entries()) {
    if (!act.startsWith('append')) continue;
    const world = await createWorld();
    const sleeper = await world.start(planOf([at, 'sleeps before']));
    await world.untilAtWork();
    await world.start();
    await world.untilEnded();
    expect(sleeper.acts.length).toBeGreaterThan(at);
    await world.expectSound();
    expect((await world.job()).status).toBe('succeeded');
    await world.stop();
  }
});

/** Acts of one machine at which something happens. */
const plans = fc
  .array(fc.tuple(fc.nat(30), fc.constantFrom(...mishaps)), { maxLength: 6 })
  .map((entries): ReadonlyMap<number, Mishap> => new Map(entries));

test('whatever befalls two machines, the job ends with a result or a reason, and there is never a second of anything', async () => {
  await fc.assert(
    fc.asyncProperty(
      plans,
      plans,
      fc.boolean(),
      fc.integer({ min: -3_600_000, max: 3_600_000 }),
      async (one, other, together, offsetMs) => {
        const world = await createWorld();
        await world.start(one);
        if (!together) await world.untilAtWork();
        await world.start(other, { offsetMs });
        await world.untilEndedOr(60_000);
        // A dead worker is replaced, sooner or later.
        await world.start();
        await world.untilEnded();
        await world.expectSound();
        // Each retry gets past at least one refusal, and there are not more of them than mishaps.
        for (let retries = 0; retries < one.size + other.size; retries += 1) {
          if ((await world.job()).status === 'succeeded') break;
          await world.retry();
          await world.untilEnded();
          await world.expectSound();
        }
        expect((await world.job()).status).toBe('succeeded');
        await world.stop();
      },
    ),
    { numRuns: inStorm({ short: 20, gate: 60, long: 1_000 }), interruptAfterTimeLimit: 40_000, markInterruptAsFailure: false },
  );
}, 60_000);
