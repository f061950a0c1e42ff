import { describe, expect, test } from '@jest/globals';
import { inTurn } from '../support/storm.js';
import type { Trouble, TroubleKind } from '../support/providers/wire.js';
import { createGitHubAndVercel, type GitHubAndVercel } from '../workers/outside.js';
import { passTimeUntil } from '../workers/machine.js';
import { createWorld, type World } from './provisioningWorld.js';
import { directLine, permanentFault, type Line } from '../workers/remote.js';

const ended = (world: World): Promise<void> => world.untilEndedOr(3 * 3_600_000);

/** Provisions a website while `trouble` is met; answers with what was asked for. */
const provision = async (
  trouble?: (index: number) => Trouble | undefined,
  verify: (world: World, outside: GitHubAndVercel) => Promise<void> = () => Promise.resolve(),
): Promise<readonly string[]> => {
  const outside = createGitHubAndVercel(trouble);
  const world = await createWorld(outside);
  await world.start(undefined, { line: directLine });
  await ended(world);
  await world.expectSound();
  await verify(world, outside);
  await world.stop();
  return outside.requests;
};

const succeeded = async (world: World): Promise<void> => {
  expect((await world.job()).status).toBe('succeeded');
};

const smooth = await provision(undefined, succeeded);
const indexes = [...smooth.keys()];
const writes = indexes.filter((index) => !/^GET/.test(smooth[index] ?? ''));

const befores: readonly TroubleKind[] = ['429', '500', 'reset', 'silence', 'page'];
const afters: readonly TroubleKind[] = ['500', 'reset', 'silence', 'half', 'drip', 'nonsense'];
const pick = (kinds: readonly TroubleKind[], index: number): TroubleKind => kinds[index % kinds.length] ?? '500';

describe('with GitHub and Vercel', () => {
  test('a website is made of one of each, and what stands there is recorded', async () => {
    await provision(undefined, async (world, { gitHub, vercel }) => {
      await succeeded(world);
      expect(await world.website()).toMatchObject({
        repository: { provider: 'github', id: 'agency/bakery', name: 'bakery' },
        hosting: { provider: 'vercel', projectId: 'prj_1', name: 'bakery' },
      });
      const { provisioningJobId } = await world.website();
      expect(gitHub.repositories.get('bakery')?.description).toBe(`Website of Bakery [doorstep ${provisioningJobId}]`);
      expect(vercel.projects.get('bakery')?.variables.map(({ key }) => key)).toEqual([
        'DOORSTEP_JOB',
        'SITE_NAME',
        'SITE_SLUG',
        'SITE_COLOR',
        'SITE_URL',
      ]);
    });
    expect(writes).toHaveLength(5);
  });

  test('a member of the organisation who may only read gets write access', async () => {
    const outside = createGitHubAndVercel();
    outside.gitHub.members.add('octocat');
    const world = await createWorld(outside);
    await world.start(undefined, { line: directLine });
    await ended(world);
    await succeeded(world);
    expect(outside.requests).toContain('PUT /repos/agency/bakery/collaborators/octocat');
    expect(outside.gitHub.repositories.get('bakery')?.collaborators).toContain('octocat');
    await world.stop();
  });

  test('a team that makes variables sensitive gets its website too', async () => {
    const outside = createGitHubAndVercel();
    outside.vercel.policy = 'on';
    const world = await createWorld(outside);
    await world.start(undefined, { line: directLine });
    await ended(world);
    await succeeded(world);
    await world.expectSound();
    await world.stop();
  });

  test('trouble before any single request leaves one of each', async () => {
    for (const index of indexes) {
      const trouble = { when: 'before', what: pick(befores, index) } as const;
      await provision((at) => (at === index ? trouble : undefined), succeeded);
    }
  });

  test('trouble after any single request, its answer being lost, leaves one of each', async () => {
    for (const index of indexes) {
      const trouble = { when: 'after', what: pick(afters, index) } as const;
      await provision((at) => (at === index ? trouble : undefined), succeeded);
    }
  });

  test('whatever befalls a request that makes something, there is one of each', async () => {
    const troubles = [
      ...befores.map((what) => ({ when: 'before', what }) as const),
      ...afters.map((what) => ({ when: 'after', what }) as const),
    ];
    for (const [place, index] of writes.entries()) {
      for (const trouble of inTurn(troubles, place)) await provision((at) => (at === index ? trouble : undefined), succeeded);
    }
  });

  test.each(['dies before', 'dies after'] as const)(
    'a worker that %s any single request is replaced by another',
    async (mishap) => {
      const acts = await (async () => {
        const world = await createWorld(createGitHubAndVercel());
        const machine = await world.start();
        await ended(world);
        await world.stop();
        return machine.acts;
      })();
      for (const [at, name] of acts.entries()) {
        if (!/^[A-Z]+ \//.test(name)) continue;
        const world = await createWorld(createGitHubAndVercel());
        const machine = await world.start(new Map([[at, mishap]]));
        await world.untilAtWork();
        await world.start();
        await ended(world);
        expect(machine.acts).toHaveLength(at + 1);
        await world.expectSound();
        await succeeded(world);
        await world.stop();
      }
    },
  );

  test.each([
    ['POST /repos/agency/site-template/generate', 'github_create_repo'],
    ['POST /v11/projects', 'vercel_create_project'],
    ['POST /v13/deployments', 'vercel_initial_deploy'],
  ])(
    'when %s is never answered well, the job fails with a reason, and a retry makes no second of anything',
    async (name, step) => {
      const first = smooth.indexOf(name);
      let away = true;
      const outside = createGitHubAndVercel((at) => (away && at >= first ? { when: 'after', what: 'nonsense' } : undefined));
      const world = await createWorld(outside);
      await world.start(undefined, { line: directLine });
      await ended(world);
      expect(await world.job()).toMatchObject({
        status: 'failed',
        reason: expect.stringMatching(new RegExp(`^${step}: (GitHub|Vercel) answered in a form that is not understood$`)),
      });
      await world.expectSound();
      away = false;
      await world.retry();
      await ended(world);
      await succeeded(world);
      await world.expectSound();
      await world.stop();
    },
  );

  test('a build that fails is the reason of the job, in words', async () => {
    const outside = createGitHubAndVercel();
    outside.gitHub.commit('site-template', null);
    const world = await createWorld(outside);
    await world.start(undefined, { line: directLine });
    await ended(world);
    expect((await world.job()).reason).toBe('vercel_initial_deploy: The build failed: Command "npm run build" exited with 1');
    await world.stop();
  });

  describe('the compensation of a failed job', () => {
    /** A job that has failed in its last step, with everything made. */
    const failed = async (trouble: () => Trouble | undefined = () => undefined, policy: 'on' | 'off' = 'off') => {
      const outside = createGitHubAndVercel(trouble);
      outside.vercel.policy = policy;
      const world = await createWorld(outside);
      const closed: Line = (name, act) =>
        name === 'visit' ? Promise.reject(permanentFault('It is closed')) : Promise.resolve(act());
      const worker = await world.start(undefined, { line: closed });
      await ended(world);
      await worker.stop();
      expect((await world.job()).reason).toMatch(/^finalize: /);
      outside.gitHub.addStranger('neighbour');
      return { outside, world };
    };
    const compensated = (world: World): Promise<void> =>
      passTimeUntil(world.clock, async () => ['succeeded', 'failed'].includes((await world.job()).cleanup?.status ?? ''));
    const expectGone = async (world: World, { gitHub, vercel }: GitHubAndVercel): Promise<void> => {
      expect((await world.job()).cleanup).toEqual({ status: 'succeeded' });
      expect([...gitHub.repositories.keys()]).toEqual(['site-template', 'neighbour']);
      expect([...vercel.projects.keys()]).toEqual([]);
      const removals = (await world.events()).filter(({ type }) => type === 'ProvisioningLeftoverRemoved');
      expect(removals.map(({ data }) => data.what)).toEqual(['project', 'repository']);
    };

    test('removes the project, then the repository, and nothing else; a retry creates both again', async () => {
      const { outside, world } = await failed();
      const from = outside.requests.length;
      await world.start(undefined, { line: directLine });
      await world.compensate();
      await compensated(world);
      await expectGone(world, outside);
      const deletions = outside.requests.slice(from).filter((name) => name.startsWith('DELETE'));
      expect(deletions).toEqual(['DELETE /v9/projects/prj_1', 'DELETE /repos/agency/bakery']);

      await world.retry();
      await ended(world);
      await succeeded(world);
      expect([...outside.gitHub.repositories.keys()]).toContain('bakery');
      expect(outside.gitHub.made).toEqual(['bakery', 'bakery']);
      await world.stop();
    });

    test('removes the project also where the team makes variables sensitive', async () => {
      const { outside, world } = await failed(undefined, 'on');
      await world.start(undefined, { line: directLine });
      await world.compensate();
      await compensated(world);
      await expectGone(world, outside);
      await world.stop();
    });

    test('fails with the reason where a marker was removed, and goes on once it is deleted by hand', async () => {
      const { outside, world } = await failed();
      const repository = outside.gitHub.repositories.get('bakery');
      if (repository === undefined) throw new Error('there is no repository');
      repository.description = 'Our website';
      await world.start(undefined, { line: directLine });
      await world.compensate();
      await compensated(world);
      const reason = expect.stringMatching(
        /^The repository agency\/bakery is there without \[doorstep .*delete it at GitHub by hand/,
      );
      expect((await world.job()).cleanup).toEqual({ status: 'failed', error: reason });
      outside.gitHub.remove('bakery');
      await world.compensate();
      await passTimeUntil(world.clock, async () => (await world.job()).cleanup?.status === 'succeeded');
      await world.stop();
    });

    test('gets over trouble before and after any of its requests, and the death of a worker at each', async () => {
      const { outside, world } = await failed();
      const from = outside.requests.length;
      const { acts } = await world.start();
      await world.compensate();
      await compensated(world);
      await world.stop();
      const requests = [...outside.requests.slice(from).keys()];
      expect(requests.length).toBeGreaterThan(3);
      for (const index of requests) {
        const troubles = [
          { when: 'before', what: pick(befores, index) },
          { when: 'after', what: pick(afters, index) },
        ] as const;
        for (const trouble of inTurn(troubles, index)) {
          let left: number | undefined;
          const one = await failed(() => (left !== undefined && left-- === 0 ? trouble : undefined));
          left = index;
          await one.world.start(undefined, { line: directLine });
          await one.world.compensate();
          await compensated(one.world);
          await expectGone(one.world, one.outside);
          await one.world.stop();
        }
      }
      for (const [at, name] of acts.entries()) {
        for (const mishap of inTurn(['dies before', 'dies after'] as const, at)) {
          if (!/^[A-Z]+ \//.test(name)) continue;
          const one = await failed();
          const machine = await one.world.start(new Map([[at, mishap]]));
          await one.world.compensate();
          await passTimeUntil(one.world.clock, () => Promise.resolve(machine.isDead()));
          await one.world.start();
          await compensated(one.world);
          await expectGone(one.world, one.outside);
          await one.world.stop();
        }
      }
    });

    test('leaves alone what does not carry the job’s marker', async () => {
      const outside = createGitHubAndVercel();
      outside.gitHub.addStranger('bakery');
      const world = await createWorld(outside);
      await world.start(undefined, { line: directLine });
      await ended(world);
      expect((await world.job()).reason).toBe('github_create_repo: The repository name bakery is already taken');
      await world.compensate();
      await compensated(world);
      expect((await world.job()).cleanup).toEqual({ status: 'succeeded' });
      expect(outside.gitHub.repositories.has('bakery')).toBe(true);
      expect(outside.requests.some((name) => name.startsWith('DELETE'))).toBe(false);
      await world.stop();
    });
  });
});
