import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../src/platform/clock.js';
import { createWorld, type World } from './provisioningWorld.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { countsOf, oneOfEach, permanentFault, transientFault, type Line } from '../workers/remote.js';

/** A line on which the calls of one name go as `answers` say, in their order, and then as usual. */
const lineWith = (call: string, answers: (() => never | Promise<never>)[]): Line => {
  const left = [...answers];
  return async (name, act) => {
    const answer = name === call ? left.shift() : undefined;
    return answer === undefined ? act() : answer();
  };
};

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const fails = (error: Error) => () => {
  throw error;
};
const neverAnswers = () => new Promise<never>(() => undefined);

const stepOf = async (world: World, id: string) => {
  const step = (await world.job()).steps.find((one) => one.id === id);
  if (step === undefined) throw new Error(`there is no step ${id}`);
  return step;
};

/** How long after each failed attempt at a step the next one began, in milliseconds. */
const pausesOf = async (world: World): Promise<readonly number[]> => {
  const events = await world.events();
  return events.flatMap(({ type, metadata }, index) => {
    const next = events.slice(index).find((later) => later.type === 'ProvisioningStepStarted');
    return type !== 'ProvisioningStepFailed' || next === undefined
      ? []
      : [Date.parse(next.metadata.at) - Date.parse(metadata.at)];
  });
};

describe('a fault that passes', () => {
  test('is waited out longer each time, and is visible meanwhile', async () => {
    const world = await createWorld();
    await world.start(undefined, {
      line: lineWith('deploy', times(4, fails(transientFault('The build machines are busy')))),
    });
    await passTimeUntil(world.clock, async () => (await stepOf(world, 'vercel_initial_deploy')).nextAttemptAt !== undefined);
    expect(await world.job()).toMatchObject({ status: 'running' });
    expect(await stepOf(world, 'vercel_initial_deploy')).toMatchObject({
      status: 'running',
      attempts: 1,
      error: 'The build machines are busy',
    });
    await world.untilEnded();
    await world.expectSound();
    const step = await stepOf(world, 'vercel_initial_deploy');
    expect(step).toMatchObject({ status: 'succeeded', attempts: 5 });
    expect(step).not.toHaveProperty('error');
    const pauses = await pausesOf(world);
    for (const [index, maxMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(maxMs / 2);
      expect(pauses[index]).toBeLessThanOrEqual(maxMs + 500);
    }
    await world.stop();
  });

  test('that comes with a time to wait is tried again only after that', async () => {
    const world = await createWorld();
    await world.start(undefined, { line: lineWith('createProject', [fails(transientFault('Slow down', 90_000))]) });
    await world.untilEnded();
    await world.expectSound();
    const [pause] = await pausesOf(world);
    expect(pause).toBeGreaterThanOrEqual(90_000);
    expect(pause).toBeLessThan(100_000);
    await world.stop();
  });

  test('but does not pass fails the job after 15 minutes, with the last words of the provider', async () => {
    const world = await createWorld();
    await world.start(undefined, { line: lineWith('setVariables', times(99, fails(transientFault('Still closed')))) });
    await world.untilEnded();
    expect(await world.job()).toMatchObject({ status: 'failed', reason: 'vercel_set_env_vars: Still closed' });
    const step = await stepOf(world, 'vercel_set_env_vars');
    expect(step).toMatchObject({ status: 'failed', error: 'Still closed' });
    const tookMs = Date.parse(step.finishedAt ?? '') - Date.parse(step.startedAt ?? '');
    expect(tookMs).toBeGreaterThanOrEqual(15 * 60_000);
    expect(tookMs).toBeLessThan(16 * 60_000);
    expect(step.attempts).toBeLessThan(40);
    expect((await world.website()).status).toBe('provisioning');
    await world.stop();
  });
});

test('however many people are invited, one every three seconds, it is one attempt', async () => {
  const collaborators = Array.from({ length: 30 }, (_, index) => `octocat-${String(index)}`);
  const world = await createWorld(undefined, { collaborators });
  const paced: Line = async (name, act) => {
    if (name === 'inviteCollaborator') await sleep(world.clock, 3_000);
    return act();
  };
  await world.start(undefined, { line: paced });
  await world.untilEnded();
  expect(await stepOf(world, 'github_invite_collaborator')).toMatchObject({ status: 'succeeded', attempts: 1 });
  expect(world.remote.collaborators).toEqual(collaborators);
  await world.stop();
});

describe('a fault that does not pass', () => {
  test('fails the job at once; a retry goes on from there and makes nothing twice', async () => {
    const world = await createWorld();
    await world.start(undefined, { line: lineWith('createProject', [fails(permanentFault('The name bakery is taken'))]) });
    await world.untilEnded();
    expect(await world.job()).toMatchObject({ status: 'failed', reason: 'vercel_create_project: The name bakery is taken' });
    expect((await stepOf(world, 'vercel_create_project')).attempts).toBe(1);
    expect((await stepOf(world, 'vercel_set_env_vars')).status).toBe('pending');

    await world.retry();
    expect(await world.job()).toMatchObject({ status: 'queued' });
    await world.untilEnded();
    await world.expectSound();
    expect(await world.job()).toMatchObject({ status: 'succeeded' });
    expect(await world.job()).not.toHaveProperty('reason');
    expect((await stepOf(world, 'github_create_repo')).attempts).toBe(1);
    await world.stop();
  });

  test('of the service itself is no secret spilt: the reason names the step and no more', async () => {
    const world = await createWorld();
    await world.start(undefined, { line: lineWith('findProject', times(99, fails(new TypeError('password=hunter2')))) });
    await world.untilEnded();
    const { reason } = await world.job();
    expect(reason).toBe('vercel_create_project: An unexpected error occurred');
    await world.stop();
  });

  test('found at the end: a repository or a project that is gone, a missing variable', async () => {
    for (const [lose, reason] of [
      [(world: World) => world.remote.repositories.splice(0), 'finalize: The repository bakery is no longer there'],
      [(world: World) => world.remote.projects.splice(0), 'finalize: The project bakery is no longer there'],
      [(world: World) => world.remote.variables.delete('SITE_URL'), 'finalize: Variables are missing: SITE_URL'],
    ] as const) {
      const world = await createWorld();
      const line: Line = (name, act) => {
        if (name === 'findDeployment') lose(world);
        return Promise.resolve(act());
      };
      await world.start(undefined, { line });
      await world.untilEnded();
      expect(await world.job()).toMatchObject({ status: 'failed', reason });
      expect((await world.website()).status).toBe('provisioning');
      await world.stop();
    }
  });

  test('an address that has changed on the way is no fault: the one that is asked is the one that holds', async () => {
    const world = await createWorld();
    const visited: string[] = [];
    const line: Line = (name, act) => {
      const [project] = world.remote.projects;
      if (name === 'findDeployment' && project !== undefined) {
        world.remote.projects[0] = { ...project, url: 'https://www.bakery.example/' };
      }
      return Promise.resolve(act());
    };
    await world.start(undefined, { line, visited });
    await world.untilEnded();
    expect(visited).toStrictEqual(['https://www.bakery.example/']);
    expect(await world.website()).toMatchObject({ status: 'active', url: 'https://www.bakery.example/' });
    await world.stop();
  });

  test('found at the end: an address that does not answer as it should is asked for 15 minutes', async () => {
    const world = await createWorld();
    const line: Line = (name, act) => Promise.resolve(name === 'visit' ? (503 as ReturnType<typeof act>) : act());
    await world.start(undefined, { line });
    await world.untilEnded();
    const reason = 'finalize: https://bakery.example/ answers with status 503';
    expect(await world.job()).toMatchObject({ status: 'failed', reason });
    const { startedAt = '', finishedAt = '' } = await stepOf(world, 'finalize');
    expect(Date.parse(finishedAt) - Date.parse(startedAt)).toBeGreaterThanOrEqual(15 * 60_000);
    await world.stop();
  });
});

describe('no answer at all', () => {
  test('ends an attempt in time; no other worker takes over meanwhile', async () => {
    const world = await createWorld();
    await world.start(undefined, { line: lineWith('createProject', [neverAnswers]) });
    await world.start();
    await world.untilEnded();
    await world.expectSound();
    const events = await world.events();
    const failures = events.filter(({ type }) => type === 'ProvisioningStepFailed');
    expect(events.filter(({ type }) => type === 'ProvisioningStepStarted')).toHaveLength(7);
    expect(failures).toMatchObject([
      { data: { step: 'vercel_create_project', error: 'No answer within 60 s', transient: true } },
    ]);
    await world.stop();
  });
});

test('a website that is archived on the way is finished all the same', async () => {
  const world = await createWorld();
  await world.archive();
  await world.start();
  await world.untilEnded();
  expect(await world.job()).toMatchObject({ status: 'succeeded' });
  expect(await world.website()).toMatchObject({ status: 'active', shelf: 'archived' });
  await world.stop();
});

describe('a worker that is stopped', () => {
  test('finishes the step that is under way and leaves the others to the next worker, which begins at once', async () => {
    const world = await createWorld();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const line: Line = async (name, act) => {
      const result = act();
      if (name === 'createRepository') await answered;
      return result;
    };
    const worker = await world.start(undefined, { line });
    await passTimeUntil(world.clock, () => Promise.resolve(countsOf(world.remote).repositories === 1));
    const stopped = worker.stop();
    answer();
    await stopped;
    expect((await world.events()).at(-1)).toMatchObject({ type: 'ProvisioningStepSucceeded' });

    const at = world.clock.now();
    await world.start();
    await passTimeUntil(world.clock, async () => (await world.job()).status === 'succeeded');
    expect(world.clock.now()).toBe(at);
    expect(countsOf(world.remote)).toStrictEqual(oneOfEach);
    await world.stop();
  });

  test('does not wait for an answer that does not come, and the step is taken over', async () => {
    const world = await createWorld();
    const worker = await world.start(undefined, { line: lineWith('createRepository', [neverAnswers]) });
    await world.untilAtWork();
    const at = world.clock.now();
    await stopInVirtualTime(world.clock, worker);
    expect(world.clock.now() - at).toBeLessThan(10_000);
    await world.stop();
  });
});

describe('what a worker remembers', () => {
  test('lost, makes it check everything again and do nothing twice', async () => {
    const world = await createWorld();
    const first = await world.start();
    await world.untilEnded();
    await first.stop();
    const before = await world.events();
    await world.losePosition();
    const second = await world.start();
    await passTimeUntil(world.clock, async () => (await world.position()) > 0n);
    expect(second.acts).toStrictEqual([]);
    expect(await world.events()).toStrictEqual(before);
    await world.stop();
  });

  test('stands before what is not finished, so that a start takes it up', async () => {
    const world = await createWorld();
    const first = await world.start(undefined, { line: lineWith('createProject', [neverAnswers]) });
    await world.untilEndedOr(30_000);
    expect(await world.position()).toBeLessThan(await world.created());
    await world.untilEnded();
    await first.stop();
    expect(await world.position()).toBeGreaterThan(await world.created());
    await world.stop();
  });
});

test.each([
  ['ahead of', 3_600_000],
  ['behind', -3_600_000],
])('a clock an hour %s the others does no harm: dead workers are replaced in seconds', async (_, offsetMs) => {
  const world = await createWorld();
  await world.start(new Map([[3, 'dies after']]), { offsetMs });
  await world.untilAtWork();
  await world.start();
  const at = world.clock.now();
  await passTimeUntil(world.clock, async () => (await world.job()).status === 'succeeded');
  expect(world.clock.now() - at).toBeLessThan(15_000);
  expect(countsOf(world.remote)).toStrictEqual(oneOfEach);
  await world.stop();
});

test('a worker that slept in finalize, while the job failed and was compensated, does not activate the website', async () => {
  const world = await createWorld();
  // Everything is verified; nothing but the append is left to do.
  const sleeper = await world.start(new Map([[21, 'sleeps before']]));
  await passTimeUntil(world.clock, () => Promise.resolve(sleeper.acts.length > 21));
  await world.start(undefined, { line: lineWith('visit', [fails(permanentFault('The site is gone'))]) });
  await passTimeUntil(world.clock, async () => (await world.job()).status === 'failed');
  await world.compensate();
  await passTimeUntil(world.clock, async () => (await world.job()).cleanup?.status === 'succeeded');
  await world.untilEnded();
  expect(await world.website()).toMatchObject({ status: 'provisioning' });
  expect(await world.website()).not.toHaveProperty('url');
  await world.retry();
  await world.untilEnded();
  expect(await world.website()).toMatchObject({ status: 'active', url: 'https://bakery.example/' });
  await world.stop();
});

test('a job whose website could not be activated yet is completed by another worker', async () => {
  const world = await createWorld();
  const first = await world.start(new Map([[22, 'dies before']]));
  await passTimeUntil(world.clock, () => Promise.resolve(first.isDead()));
  expect(await world.job()).toMatchObject({
    status: 'running',
    steps: expect.arrayContaining([expect.objectContaining({ id: 'finalize', status: 'succeeded' })]),
  });
  expect(await world.website()).toMatchObject({ status: 'provisioning' });
  await world.start();
  await world.untilEnded();
  await world.expectSound();
  expect(await world.job()).toMatchObject({ status: 'succeeded' });
  await world.stop();
});
