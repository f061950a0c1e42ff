import { describe, expect, test } from '@jest/globals';
import { refusals } from '../../src/commands/refusal.js';
import {
  stepIds,
  type ProvisioningEvent,
  type StepId,
  type StepResult,
} from '../../src/events/provisioning/provisioning.events.js';
import type { CompensationInput, ProvisioningInput } from '../../src/workers/provisioning/provisioning.commands.js';
import { provisioningCompensation } from '../../src/workers/provisioning/provisioning.compensation.js';
import { provisioningProcess } from '../../src/workers/provisioning/provisioning.process.js';
import { failUntilGivenUp } from '../support/retries.js';
import { expectRepeatable, given as givenEvents, now, recorded, stateAfter } from '../support/given.js';

const lately = '2026-01-01T23:59:00.000Z';
const job = { jobId: 'j1', websiteId: 'w1' };
/** What is asked of the job, in its run of now unless it says otherwise. */
type Input = WithoutRun<ProvisioningInput> & { readonly run?: number; readonly at?: string };
type WithoutRun<Each> = Each extends object ? Omit<Each, 'run'> : never;
const runAfter = (events: readonly ProvisioningEvent[]): number =>
  1 + events.filter(({ type }) => type === 'ProvisioningRetried').length;
const ofJob = (input: Input, events: readonly ProvisioningEvent[]) => ({ jobId: job.jobId, run: runAfter(events), ...input });
const given = (events: readonly ProvisioningEvent[] = []) => {
  const decided = givenEvents(
    provisioningProcess,
    events.map((event, revision) => recorded(event, { revision, at: lately })),
  );
  return { when: (input: Input) => decided.when(ofJob(input, events)) };
};
const request = {
  ...job,
  name: 'Bakery',
  slug: 'bakery',
  templateId: 'business',
  collaborators: ['octocat'],
  createdAt: lately,
};
const leaseUntil = '2026-01-02T00:00:06.000Z';
/** How long a step is retried. */
const retryMs = 15 * 60_000;

const queued: ProvisioningEvent = { type: 'ProvisioningQueued', data: request };
const started = (step: StepId, attempt = 1, worker = 'A'): ProvisioningEvent => ({
  type: 'ProvisioningStepStarted',
  data: { ...job, step, attempt, worker, leaseUntil },
});
const results: { [Step in StepId]: Extract<StepResult, { step: Step }> } = {
  github_create_repo: {
    step: 'github_create_repo',
    output: { provider: 'p', id: 'r1', name: 'bakery', defaultBranch: 'main', cloneUrl: 'https://x.example/r1.git' },
  },
  github_invite_collaborator: { step: 'github_invite_collaborator', output: { invited: ['octocat'] } },
  vercel_create_project: {
    step: 'vercel_create_project',
    output: { provider: 'p', projectId: 'p1', name: 'bakery', url: 'https://bakery.example/' },
  },
  vercel_set_env_vars: { step: 'vercel_set_env_vars', output: { variables: ['SITE_NAME'] } },
  vercel_initial_deploy: {
    step: 'vercel_initial_deploy',
    output: { deploymentId: 'd1', url: 'https://d1.example/', commit: 'abc' },
  },
  finalize: { step: 'finalize', output: { url: 'https://bakery.example/' } },
};
const succeeded = (step: StepId, attempt = 1): ProvisioningEvent => ({
  type: 'ProvisioningStepSucceeded',
  data: { ...job, attempt, ...results[step] },
});
const failedStep = (step: StepId, attempt: number, nextAttemptAt?: string): ProvisioningEvent => ({
  type: 'ProvisioningStepFailed',
  data: { ...job, step, attempt, error: 'Oh', transient: true, ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
});
const failed = (step: StepId, why = 'Oh'): ProvisioningEvent => ({
  type: 'ProvisioningFailed',
  data: { ...job, step, reason: `${step}: ${why}` },
});
const retried = (step: StepId, run = 2, slug = 'bakery'): ProvisioningEvent => ({
  type: 'ProvisioningRetried',
  data: { ...job, step, run, slug },
});
const done: ProvisioningEvent = { type: 'ProvisioningSucceeded', data: job };

/** Everything up to a step, which has not begun. */
const upTo = (step: StepId): ProvisioningEvent[] => [
  queued,
  ...stepIds.slice(0, stepIds.indexOf(step)).flatMap((over) => [started(over), succeeded(over)]),
];
const transient = { error: 'Oh', transient: true, retryAfterMs: 0 };
const permanent = { error: 'Name taken', transient: false, retryAfterMs: 0 };
const first = 'github_create_repo';

const retry = { type: 'RetryProvisioning', websiteId: 'w1', slug: 'bakery' } as const;
const third = 'vercel_create_project';
const failedAtThird = [...upTo(third), started(third), failedStep(third, 1), failed(third)];

describe('queueing', () => {
  test('a website that was created', () => {
    given().when({ type: 'QueueProvisioning', request }).then([queued]);
  });

  test.each([
    ['queued', [queued]],
    ['under way', [queued, started(first)]],
    ['failed', [queued, started(first), failedStep(first, 1), failed(first)]],
    ['finished', [...upTo('finalize'), started('finalize'), succeeded('finalize'), done]],
  ])('once more, when it is %s, changes nothing', (_, events) => {
    given(events).when({ type: 'QueueProvisioning', request }).then([]);
  });
});

describe('starting a step', () => {
  const start = (attempt: number, changes = {}) => ({
    type: 'StartAttempt' as const,
    step: first as StepId,
    attempt,
    worker: 'B',
    ...changes,
  });

  test('that nobody is at takes the lease', () => {
    given([queued])
      .when(start(1))
      .then([started(first, 1, 'B')]);
  });

  test('that somebody else is at changes nothing', () => {
    given([queued, started(first)])
      .when(start(2))
      .then([]);
    given([queued, started(first)])
      .when(start(1))
      .then([]);
  });

  test('whose lease was waited out takes it over', () => {
    given([queued, started(first)])
      .when(start(2, { waitedOut: 1n }))
      .then([started(first, 2, 'B')]);
  });

  test('whose lease was renewed in the meantime changes nothing', () => {
    const renewed: ProvisioningEvent = {
      type: 'ProvisioningLeaseRenewed',
      data: { ...job, step: first, attempt: 1, leaseUntil },
    };
    given([queued, started(first), renewed])
      .when(start(2, { waitedOut: 1n }))
      .then([]);
    given([queued, started(first), renewed])
      .when(start(2, { waitedOut: 2n }))
      .then([started(first, 2, 'B')]);
  });

  test('of which this worker lost track takes it up again at once', () => {
    given([queued, started(first, 1, 'B')])
      .when(start(2))
      .then([started(first, 2, 'B')]);
  });

  test('before its pause is over changes nothing; a timer that fires twice starts one attempt', () => {
    const events = [queued, started(first), failedStep(first, 1, now)];
    given(events).when(start(2)).then([]);
    given(events)
      .when(start(2, { waitedOut: 2n }))
      .then([started(first, 2, 'B')]);
    given([...events, started(first, 2)])
      .when(start(2, { waitedOut: 2n }))
      .then([]);
  });

  test.each([
    ['that is over', [queued, started(first), succeeded(first)], start(2)],
    ['that is still to come', [queued], start(1, { step: 'finalize' })],
    ['of a job that is not there', [], start(1)],
    ['of a job that has failed', [queued, started(first), failedStep(first, 1), failed(first)], start(2)],
    [
      'of a job that is finished',
      [...upTo('finalize'), started('finalize'), succeeded('finalize'), done],
      start(2, { step: 'finalize' }),
    ],
  ])('%s changes nothing', (_, events, command) => {
    given(events).when(command).then([]);
  });

  test('past its deadline fails the job, with a reason', () => {
    const at = new Date(Date.parse(lately) + 24 * 3_600_000 + 1).toISOString();
    given([queued, started(first)])
      .when(start(2, { waitedOut: 1n, at }))
      .then([failed(first, 'Not finished within 24 hours')]);
  });

  test('long after the job was queued is no matter: the deadline counts from the first attempt of the run', () => {
    const at = '2027-01-01T00:00:00.000Z';
    const begun: ProvisioningEvent = {
      type: 'ProvisioningStepStarted',
      data: { ...job, step: first, attempt: 1, worker: 'B', leaseUntil: '2027-01-01T00:00:06.000Z' },
    };
    given([queued]).when(start(1, { at })).then([begun]);
    given([queued, started(first), failedStep(first, 1), failed(first), retried(first)])
      .when(start(2, { at }))
      .then([{ ...begun, data: { ...begun.data, attempt: 2 } }]);
  });
});

describe('renewing a lease', () => {
  const renew = (changes = {}) => ({ type: 'RenewLease' as const, step: first as StepId, attempt: 1, lease: 1n, ...changes });

  test('prolongs it', () => {
    given([queued, started(first)])
      .when(renew())
      .then([{ type: 'ProvisioningLeaseRenewed', data: { ...job, step: first, attempt: 1, leaseUntil } }]);
  });

  test.each([
    ['was taken over', [queued, started(first), started(first, 2, 'B')], renew()],
    ['has another name', [queued, started(first)], renew({ lease: 7n })],
    ['has been given back', [queued, started(first), failedStep(first, 1, now)], renew()],
    ['is of a step that is over', [queued, started(first), succeeded(first)], renew()],
  ])('that %s changes nothing', (_, events, command) => {
    given(events).when(command).then([]);
  });
});

describe('the success of a step', () => {
  const success = (step: StepId, changes = {}) => ({
    type: 'RecordSuccess' as const,
    result: results[step],
    attempt: 1,
    ...changes,
  });

  test('is recorded, and the same worker goes on with the next one', () => {
    given([queued, started(first)])
      .when(success(first, { nextWorker: 'A' }))
      .then([succeeded(first), started('github_invite_collaborator')]);
  });

  test('of a worker that stops leaves the next step to any worker', () => {
    given([queued, started(first)])
      .when(success(first))
      .then([succeeded(first)]);
  });

  test('of the last one decides the job, which is completed once its website is active', () => {
    const verified = [...upTo('finalize'), started('finalize'), succeeded('finalize')];
    given([...upTo('finalize'), started('finalize')])
      .when(success('finalize', { nextWorker: 'A' }))
      .then([succeeded('finalize')]);
    given(verified).when({ type: 'CompleteProvisioning' }).then([done]);
    given([...verified, done])
      .when({ type: 'CompleteProvisioning' })
      .then([]);
  });

  test.each([
    ['under way', [...upTo('finalize'), started('finalize')]],
    ['failed', [...upTo('finalize'), started('finalize'), failedStep('finalize', 1), failed('finalize')]],
  ])('is needed before a job is completed: not of one that is %s', (_, events) => {
    given(events).when({ type: 'CompleteProvisioning' }).then([]);
  });

  test.each([
    ['twice', [queued, started(first), succeeded(first)], success(first)],
    [
      'twice, when the next has begun',
      [queued, started(first), succeeded(first), started('github_invite_collaborator')],
      success(first),
    ],
    ['from a sleeper whose step another worker has taken over', [queued, started(first), started(first, 2, 'B')], success(first)],
    ['after its attempt was given up', [queued, started(first), failedStep(first, 1, now)], success(first)],
    ['after the job failed', [queued, started(first), failedStep(first, 1), failed(first)], success(first)],
    ['early, of a step that has not begun', [queued, started(first)], success('finalize')],
    ['of an attempt that has not begun', [queued, started(first)], success(first, { attempt: 2 })],
    ['of a job that is not there', [], success(first)],
    ['after the job was finished', [...upTo('finalize'), started('finalize'), succeeded('finalize'), done], success('finalize')],
  ])('%s changes nothing', (_, events, command) => {
    given(events).when(command).then([]);
  });
});

describe('the failure of a step', () => {
  const failure = (attempt: number, changes = {}) => ({
    type: 'RecordFailure' as const,
    step: first as StepId,
    attempt,
    fault: transient,
    jitter: 0.5,
    ...changes,
  });
  const failures = (count: number): ProvisioningEvent[] =>
    Array.from({ length: count }, (_, index) => [started(first, index + 1), failedStep(first, index + 1, now)]).flat();
  const fails = (attempt: number, nextAttemptAt?: string) => failedStep(first, attempt, nextAttemptAt);

  test.each([
    [1, '2026-01-02T00:00:00.750Z'],
    [2, '2026-01-02T00:00:01.500Z'],
    [3, '2026-01-02T00:00:03.000Z'],
    [4, '2026-01-02T00:00:06.000Z'],
  ])('for now, the %s. time, means a longer pause', (attempt, nextAttemptAt) => {
    given([queued, ...failures(attempt - 1), started(first, attempt)])
      .when(failure(attempt))
      .then([fails(attempt, nextAttemptAt)]);
  });

  test.each([0, 60_000])('for now is retried for 15 minutes, then the job fails; an attempt takes %s ms', (attemptMs) => {
    const { pauses, retriedForMs, last } = failUntilGivenUp(provisioningProcess, [queued], {
      start: (attempt, waitedOut) => ({
        ...job,
        type: 'StartAttempt' as const,
        step: first as StepId,
        run: 1,
        attempt,
        worker: 'A',
        waitedOut,
      }),
      fail: (attempt) => ({ ...job, run: 1, ...failure(attempt) }),
      attemptMs,
    });
    expect(retriedForMs).toBeGreaterThanOrEqual(retryMs);
    expect(retriedForMs).toBeLessThanOrEqual(retryMs + attemptMs);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
    expect(last).toStrictEqual([fails(pauses.length + 1), failed(first)]);
  });

  test('that four others came before in version 0.1.0 does not fail the job', () => {
    const long = [1, 2, 3, 4].flatMap((attempt) => [started(first, attempt), failedStep(first, attempt, lately)]);
    const { outcome } = given([queued, ...long, started(first, 5)]).when(failure(5));
    expect(outcome).toMatchObject([{ type: 'ProvisioningStepFailed', data: { nextAttemptAt: expect.any(String) } }]);
  });

  test('is not counted for a worker that died: its attempt reported nothing', () => {
    const deaths = [1, 2, 3, 4, 5].map((attempt) => started(first, attempt));
    given([queued, ...deaths, started(first, 6)])
      .when(failure(6))
      .then([fails(6, '2026-01-02T00:00:00.750Z')]);
  });

  test.each([
    [0, '2026-01-02T00:00:00.500Z'],
    [0.999, '2026-01-02T00:00:01.000Z'],
  ])('spreads the next attempts: jitter %s', (jitter, nextAttemptAt) => {
    given([queued, started(first)])
      .when(failure(1, { jitter }))
      .then([fails(1, nextAttemptAt)]);
  });

  test('with a time to wait for is tried again after that, and a little more', () => {
    given([queued, started(first)])
      .when(failure(1, { fault: { ...transient, retryAfterMs: 120_000 } }))
      .then([fails(1, '2026-01-02T00:02:06.000Z')]);
  });

  test('with a time to wait for that is longer than it is retried fails the job', () => {
    given([queued, started(first)])
      .when(failure(1, { fault: { ...transient, retryAfterMs: retryMs + 1 } }))
      .then([fails(1), failed(first)]);
  });

  test('for good fails the job at once', () => {
    given([queued, started(first)])
      .when(failure(1, { fault: permanent }))
      .then([
        { type: 'ProvisioningStepFailed', data: { ...job, step: first, attempt: 1, error: 'Name taken', transient: false } },
        failed(first, 'Name taken'),
      ]);
  });

  test.each([
    ['twice', [queued, started(first), failedStep(first, 1, now)], failure(1)],
    ['from a sleeper whose step another worker has taken over', [queued, started(first), started(first, 2, 'B')], failure(1)],
    ['of a step that is over', [queued, started(first), succeeded(first)], failure(1)],
    ['after the job failed', [queued, started(first), failedStep(first, 1), failed(first)], failure(1)],
    ['of a job that is not there', [], failure(1)],
  ])('%s changes nothing', (_, events, command) => {
    given(events).when(command).then([]);
  });
});

describe('a retry', () => {
  test('invites others than before, as long as nobody is invited yet', () => {
    const invite = 'github_invite_collaborator';
    const events = [...upTo(invite), started(invite), failedStep(invite, 1), failed(invite)];
    const others = { ...retry, collaborators: ['anna-b'] };
    const asked: ProvisioningEvent = {
      type: 'ProvisioningRetried',
      data: { ...job, step: invite, run: 2, slug: 'bakery', collaborators: ['anna-b'] },
    };
    given(events).when(others).then([asked]);
    given([...events, asked])
      .when(others)
      .then([]);
    given([...events, asked])
      .when({ ...others, collaborators: ['berta'] })
      .thenRefused(refusals.provisioningNotFailed('w1'));
    expect(stateAfter(provisioningProcess, [...events, asked])).toMatchObject({ request: { collaborators: ['anna-b'] } });

    const project = 'vercel_create_project';
    const invited = [...upTo(project), started(project), failedStep(project, 1), failed(project)];
    given(invited)
      .when(others)
      .thenRefused(refusals.invalidQuery('collaborators', 'leave it out: they were invited before the step that failed'));
  });

  test('of a failed job goes on from the step that failed', () => {
    given(failedAtThird)
      .when(retry)
      .then([retried(third)]);
    given([...failedAtThird, retried(third)])
      .when({ type: 'StartAttempt', step: third, attempt: 2, worker: 'A' })
      .then([started(third, 2)]);
  });

  test('takes the slug that the website has now, and remembers those that it used', () => {
    const state = (...events: readonly ProvisioningEvent[]) => stateAfter(provisioningProcess, [...failedAtThird, ...events]);
    given(failedAtThird)
      .when({ ...retry, slug: 'corner-bakery' })
      .then([retried(third, 2, 'corner-bakery')]);
    const once = [retried(third, 2, 'corner-bakery'), started(third, 2), failedStep(third, 2), failed(third)];
    expect(state(...once)).toMatchObject({ request: { slug: 'corner-bakery' }, names: ['corner-bakery', 'bakery'] });
    expect(state(...once, retried(third, 3))).toMatchObject({ request: { slug: 'bakery' }, names: ['bakery', 'corner-bakery'] });
  });

  test('that was recorded before it named a slug keeps the slug', () => {
    const events: ProvisioningEvent[] = [
      ...failedAtThird,
      { type: 'ProvisioningRetried', data: { ...job, step: third, run: 2 } },
    ];
    expect(stateAfter(provisioningProcess, events)).toMatchObject({ request: { slug: 'bakery' }, names: ['bakery'] });
  });

  test('is retried for 15 minutes of its own', () => {
    const ofThird = (attempt: number) => ({ ...job, run: 2, step: third as StepId, attempt: attempt + 1 });
    const { retriedForMs } = failUntilGivenUp(provisioningProcess, [...failedAtThird, retried(third)], {
      start: (attempt, waitedOut) => ({ ...ofThird(attempt), type: 'StartAttempt' as const, worker: 'A', waitedOut }),
      fail: (attempt) => ({ ...ofThird(attempt), type: 'RecordFailure' as const, fault: transient, jitter: 0 }),
    });
    expect(retriedForMs).toBe(retryMs);
  });

  test('that failed as well can be retried', () => {
    const again = [retried(third), started(third, 2), failedStep(third, 2), failed(third)];
    given([...failedAtThird, ...again])
      .when(retry)
      .then([retried(third, 3)]);
  });

  test('asked for twice is one', () => {
    given([...failedAtThird, retried(third)])
      .when(retry)
      .then([]);
  });

  test.each([
    ['is not there', []],
    ['is queued', [queued]],
    ['is under way', [queued, started(first)]],
    ['waits for its next attempt', [queued, started(first), failedStep(first, 1, now)]],
    ['is under way again', [...failedAtThird, retried(third), started(third, 2)]],
    ['has got further', [...failedAtThird, retried(third), started(third, 2), succeeded(third, 2)]],
    ['is decided', [...upTo('finalize'), started('finalize'), succeeded('finalize')]],
    ['is finished', [...upTo('finalize'), started('finalize'), succeeded('finalize'), done]],
  ])('of a job that %s is refused', (_, events) => {
    given(events).when(retry).thenRefused(refusals.provisioningNotFailed('w1'));
  });
});

describe('a compensation', () => {
  const givenCompensation = (events: readonly ProvisioningEvent[]) => {
    const decided = givenEvents(
      provisioningCompensation,
      events.map((event, revision) => recorded(event, { revision, at: lately })),
    );
    return { when: (input: CompensationInput) => decided.when({ jobId: job.jobId, ...input }) };
  };

  const asked: ProvisioningEvent = { type: 'ProvisioningCompensationRequested', data: job };
  const begun = (attempt: number): ProvisioningEvent => ({
    type: 'ProvisioningCompensationStarted',
    data: { ...job, attempt, worker: 'A', leaseUntil },
  });
  const gone = (what: 'project' | 'repository', attempt: number, found = true): ProvisioningEvent => ({
    type: 'ProvisioningLeftoverRemoved',
    data: { ...job, attempt, what, name: request.slug, found },
  });
  const compensated: ProvisioningEvent = { type: 'ProvisioningCompensated', data: job };
  const givenUp: ProvisioningEvent = {
    type: 'ProvisioningCompensationFailed',
    data: { ...job, attempt: 2, error: 'No', transient: false },
  };
  const ask = { type: 'RequestCompensation', websiteId: 'w1' } as const;

  test('of a failed job is begun by one worker, whose number follows every attempt before', () => {
    given(failedAtThird).when(ask).then([asked]);
    givenCompensation([...failedAtThird, asked])
      .when({ type: 'StartAttempt', attempt: 2, worker: 'A' })
      .then([begun(2)]);
    givenCompensation([...failedAtThird, asked, begun(2)])
      .when({ type: 'StartAttempt', attempt: 3, worker: 'B' })
      .then([]);
    givenCompensation([...failedAtThird, asked])
      .when({ type: 'StartAttempt', attempt: 1, worker: 'A' })
      .then([]);
  });

  test('is renewed by the worker whose attempt is under way, and by nobody else', () => {
    const before = [...failedAtThird, asked, begun(2)];
    const renewal = { type: 'RenewLease', attempt: 2, lease: BigInt(before.length - 1) } as const;
    expect(givenCompensation(before).when(renewal).outcome).toEqual([
      { type: 'ProvisioningCompensationLeaseRenewed', data: { ...job, attempt: 2, leaseUntil: expect.any(String) } },
    ]);
    givenCompensation(before)
      .when({ ...renewal, lease: renewal.lease - 1n })
      .then([]);
    givenCompensation(before)
      .when({ ...renewal, attempt: 1 })
      .then([]);
  });

  test('that nobody asked for, or that is over, has no outcome', () => {
    const over = [...failedAtThird, asked, begun(2), gone('project', 2), gone('repository', 2), compensated];
    for (const events of [failedAtThird, over]) {
      for (const command of [
        { type: 'StartAttempt', attempt: 2, worker: 'A' },
        { type: 'RenewLease', attempt: 2, lease: BigInt(events.length - 1) },
        { type: 'RecordRemoval', attempt: 2, what: 'project', name: 'bakery', found: true },
        { type: 'RecordFailure', attempt: 2, fault: transient, jitter: 0 },
      ] as const)
        givenCompensation(events).when(command).then([]);
    }
  });

  test('records each removal, and ends with the last', () => {
    const removal = { type: 'RecordRemoval', attempt: 2, name: 'bakery', found: true } as const;
    const before = [...failedAtThird, asked, begun(2)];
    givenCompensation(before)
      .when({ ...removal, what: 'project' })
      .then([gone('project', 2)]);
    givenCompensation([...before, gone('project', 2)])
      .when({ ...removal, what: 'repository', found: false })
      .then([gone('repository', 2, false), compensated]);
    givenCompensation([...before, gone('project', 2)])
      .when({ ...removal, what: 'project' })
      .then([]);
    givenCompensation(before)
      .when({ ...removal, attempt: 1, what: 'project' })
      .then([]);
  });

  test('that fails is tried again, or given up; what was removed counts', () => {
    const failure = { type: 'RecordFailure', attempt: 2, jitter: 0 } as const;
    const before = [...failedAtThird, asked, begun(2), gone('project', 2)];
    givenCompensation(before)
      .when({ ...failure, fault: { error: 'No', transient: false, retryAfterMs: 0 } })
      .then([givenUp]);
    expect(givenCompensation(before).when({ ...failure, fault: transient }).outcome).toMatchObject([
      { type: 'ProvisioningCompensationFailed', data: { transient: true, nextAttemptAt: expect.any(String) } },
    ]);
    given([...before, givenUp])
      .when(ask)
      .then([asked]);
    given([...before, givenUp])
      .when(retry)
      .then([retried(third)]);
  });

  test('once done lets a retry begin with the first step, under a number of its own', () => {
    const over = [...failedAtThird, asked, begun(2), gone('project', 2), gone('repository', 2), compensated];
    given(over)
      .when(retry)
      .then([retried(first)]);
    given([...over, retried(first)])
      .when({ type: 'StartAttempt', step: first, attempt: 3, worker: 'A' })
      .then([started(first, 3)]);
    given([...over, retried(first)])
      .when({ type: 'RecordSuccess', result: results[first], attempt: 1 })
      .then([]);
  });

  test('once done keeps out a late outcome of the run before, whatever step the next run is at', () => {
    const over = [...failedAtThird, asked, begun(2), gone('project', 2), gone('repository', 2), compensated];
    const second = 'github_invite_collaborator';
    const again = [...over, retried(first), started(first, 3), succeeded(first, 3), started(second)];
    const success = { type: 'RecordSuccess', result: results[second], attempt: 1 } as const;
    given(again)
      .when(success)
      .then([succeeded(second)]);
    given(again)
      .when({ ...success, run: 1 })
      .then([]);
    given(again).when({ type: 'RecordFailure', step: second, attempt: 1, run: 1, fault: transient, jitter: 0 }).then([]);
  });

  test('keeps a retry away, and is refused to a job that has not failed', () => {
    given([...failedAtThird, asked])
      .when(retry)
      .thenRefused(refusals.provisioningInCompensation('w1'));
    for (const events of [[], [queued], [queued, started(first)]])
      given(events).when(ask).thenRefused(refusals.provisioningNotFailed('w1'));
  });

  test.each([
    [[asked], { type: 'StartAttempt', attempt: 2, worker: 'A' }],
    [[asked, begun(2)], { type: 'RecordRemoval', attempt: 2, what: 'project', name: 'bakery', found: true }],
    [[asked, begun(2)], { type: 'RecordFailure', attempt: 2, fault: transient, jitter: 0 }],
  ] as const)('repeated, a command changes nothing more: %#', (events, command) => {
    expectRepeatable(provisioningCompensation, [...failedAtThird, ...events], { jobId: job.jobId, ...command });
  });
});

describe('repeated, a command changes nothing more', () => {
  const cases: [ProvisioningEvent[], Input][] = [
    [[], { type: 'QueueProvisioning', request }],
    [[queued], { type: 'StartAttempt', step: first, attempt: 1, worker: 'A' }],
    [[queued, started(first)], { type: 'RenewLease', step: first, attempt: 1, lease: 1n }],
    [[queued, started(first)], { type: 'RecordSuccess', result: results[first], attempt: 1, nextWorker: 'A' }],
    [[queued, started(first)], { type: 'RecordFailure', step: first, attempt: 1, fault: transient, jitter: 0 }],
    [[queued, started(first), failedStep(first, 1), failed(first)], retry],
    [[queued, started(first), failedStep(first, 1), failed(first)], { type: 'RequestCompensation', websiteId: 'w1' }],
  ];

  test.each(cases.map(([events, command]) => [command.type, events, command] as const))('%s', (_, events, command) => {
    expectRepeatable(provisioningProcess, events, ofJob(command, events));
    expect(given(events).when(command).outcome).not.toStrictEqual([]);
  });
});

describe('the requests of an attempt', () => {
  const sent = (id: string, method: string) => ({
    provider: 'GitHub',
    id,
    method,
    path: '/repos',
    status: 200,
    at: now,
    durationMs: 1,
  });
  const requests = [sent('r1', 'GET'), sent('r2', 'POST'), sent('r3', 'GET'), sent('r4', 'GET')];
  const answered: ProvisioningEvent = {
    type: 'ProvisioningRequestsAnswered',
    data: { ...job, step: first, attempt: 1, requests: [sent('r2', 'POST'), sent('r4', 'GET')] },
  };

  test('that changed something, and the last one, are recorded with a success', () => {
    given([queued, started(first)])
      .when({ type: 'RecordSuccess', attempt: 1, result: results[first], requests })
      .then([answered, succeeded(first)]);
  });

  test('are recorded with a failure', () => {
    given([queued, started(first)])
      .when({ type: 'RecordFailure', step: first, attempt: 1, fault: permanent, jitter: 0, requests })
      .then([
        answered,
        { type: 'ProvisioningStepFailed', data: { ...job, step: first, attempt: 1, error: 'Name taken', transient: false } },
        failed(first, 'Name taken'),
      ]);
  });

  test('of a late attempt are not', () => {
    given([queued, started(first), started(first, 2)])
      .when({ type: 'RecordSuccess', attempt: 1, result: results[first], requests })
      .then([]);
  });

  test('do not end it', () => {
    given([queued, started(first), answered])
      .when({ type: 'RecordSuccess', attempt: 1, result: results[first] })
      .then([succeeded(first)]);
  });
});
