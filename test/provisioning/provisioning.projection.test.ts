import { describe, expect, test } from '@jest/globals';
import { provisioningEvents, stepIds, type ProvisioningEvent } from '../../src/events/provisioning/provisioning.events.js';
import {
  provisioningProjection,
  queuedJob,
  type ProvisioningDocument,
} from '../../src/projections/provisioning/provisioning.projection.js';
import { earlier, now, recorded } from '../support/given.js';

const job = { jobId: 'j1', websiteId: 'w1' };
const ofStep = { ...job, step: 'github_invite_collaborator' as const, attempt: 1 };
const output = { invited: ['octocat'] };
const queued = queuedJob({ id: 'j1', websiteId: 'w1', createdAt: earlier });

/** The job with its second step as said. */
const withStep = (step: Partial<ProvisioningDocument['steps'][number]>, changes: Partial<ProvisioningDocument> = {}) => ({
  ...queued,
  ...changes,
  steps: queued.steps.map((one) => (one.id === ofStep.step ? { ...one, ...step } : one)),
});
const running = withStep({ status: 'running', attempts: 1, startedAt: earlier }, { status: 'running' });
const waiting = withStep(
  { status: 'running', attempts: 1, startedAt: earlier, error: 'Oh', nextAttemptAt: now },
  { status: 'running' },
);
const failed = withStep(
  { status: 'failed', attempts: 5, startedAt: earlier, error: 'Oh', finishedAt: earlier },
  { status: 'failed', reason: 'github_invite_collaborator: Oh', finishedAt: earlier },
);

const after = (document: ProvisioningDocument | null, event: ProvisioningEvent) =>
  provisioningProjection.evolve(document, recorded(event, { at: now }));

describe('the provisioning projection', () => {
  test('ProvisioningQueued makes the job, six steps pending in their order', () => {
    const data = { ...job, name: 'Bakery', slug: 'bakery', templateId: 'business', collaborators: [], createdAt: earlier };
    const document = after(null, { type: 'ProvisioningQueued', data });
    expect(document).toStrictEqual({
      id: 'j1',
      websiteId: 'w1',
      status: 'queued',
      steps: stepIds.map((id) => ({ id, status: 'pending', attempts: 0 })),
      createdAt: earlier,
    });
    expect(stepIds).toStrictEqual([
      'github_create_repo',
      'github_invite_collaborator',
      'vercel_create_project',
      'vercel_set_env_vars',
      'vercel_initial_deploy',
      'finalize',
    ]);
  });

  test('ProvisioningStepStarted sets job and step running; a further attempt keeps when the first began', () => {
    const started = (attempt: number): ProvisioningEvent => ({
      type: 'ProvisioningStepStarted',
      data: { ...ofStep, attempt, worker: 'A', leaseUntil: now },
    });
    const begun = withStep({ status: 'running', attempts: 1, startedAt: now }, { status: 'running' });
    expect(after(queued, started(1))).toStrictEqual(begun);
    const again = withStep({ status: 'running', attempts: 2, startedAt: earlier, error: 'Oh' }, { status: 'running' });
    expect(after(waiting, started(2))).toStrictEqual(again);
  });

  test('ProvisioningStepSucceeded keeps the output, and no error of an earlier attempt', () => {
    const event: ProvisioningEvent = { type: 'ProvisioningStepSucceeded', data: { ...ofStep, output } };
    const done = { status: 'succeeded', attempts: 1, startedAt: earlier, finishedAt: now, output } as const;
    expect(after(running, event)).toStrictEqual(withStep(done, { status: 'running' }));
    expect(after(waiting, event)).toStrictEqual(withStep(done, { status: 'running' }));
  });

  test('ProvisioningStepFailed shows what went wrong and when the next attempt is', () => {
    const data = { ...ofStep, error: 'Oh', transient: true };
    expect(after(running, { type: 'ProvisioningStepFailed', data: { ...data, nextAttemptAt: now } })).toStrictEqual(waiting);
    const last = withStep({ status: 'running', attempts: 1, startedAt: earlier, error: 'Oh' }, { status: 'running' });
    expect(after(waiting, { type: 'ProvisioningStepFailed', data })).toStrictEqual(last);
  });

  test('ProvisioningFailed ends job and step, with the reason', () => {
    const reason = 'github_invite_collaborator: Oh';
    expect(after(running, { type: 'ProvisioningFailed', data: { ...job, step: ofStep.step, reason } })).toStrictEqual(
      withStep(
        { status: 'failed', attempts: 1, startedAt: earlier, finishedAt: now },
        { status: 'failed', reason, finishedAt: now },
      ),
    );
  });

  test('ProvisioningRetried queues the job again, and the step that failed', () => {
    expect(after(failed, { type: 'ProvisioningRetried', data: { ...job, step: ofStep.step, run: 2 } })).toStrictEqual(
      withStep({ attempts: 5 }),
    );
  });

  test('ProvisioningSucceeded ends the job', () => {
    expect(after(running, { type: 'ProvisioningSucceeded', data: job })).toStrictEqual({
      ...running,
      status: 'succeeded',
      finishedAt: now,
    });
  });

  test('copes with a stream whose beginning is missing', () => {
    expect(after(null, { type: 'ProvisioningSucceeded', data: job })).toBeNull();
  });

  test('handles or ignores every event of its stream', () => {
    const { handles, ignores } = provisioningProjection;
    expect([...handles, ...ignores].sort()).toStrictEqual(Object.keys(provisioningEvents).sort());
  });

  describe('of a failed job', () => {
    const made = (id: string, more: Partial<ProvisioningDocument['steps'][number]>): ProvisioningDocument => ({
      ...failed,
      steps: failed.steps.map((step) => (step.id === id ? { ...step, ...more } : step)),
    });
    const repository = { provider: 'github', id: 'a/b', name: 'b', defaultBranch: 'main', cloneUrl: 'https://x/b.git' };
    const withRepository = made('github_create_repo', { status: 'succeeded', attempts: 2, output: repository });

    test('ProvisioningCompensationRequested, …Failed and …Compensated say how the compensation stands', () => {
      const fault = { ...job, attempt: 6, error: 'Oh' };
      expect(after(failed, { type: 'ProvisioningCompensationRequested', data: job })?.cleanup).toEqual({ status: 'running' });
      const waits: ProvisioningEvent = {
        type: 'ProvisioningCompensationFailed',
        data: { ...fault, transient: true, nextAttemptAt: now },
      };
      expect(after(failed, waits)?.cleanup).toEqual({ status: 'running', error: 'Oh', nextAttemptAt: now });
      const ends: ProvisioningEvent = { type: 'ProvisioningCompensationFailed', data: { ...fault, transient: false } };
      expect(after(failed, ends)?.cleanup).toEqual({ status: 'failed', error: 'Oh' });
      const done = after(failed, { type: 'ProvisioningCompensated', data: job });
      expect(done).toMatchObject({ status: 'failed', cleanup: { status: 'succeeded' } });
    });

    test('ProvisioningLeftoverRemoved takes what was made out of its steps', () => {
      const data = { ...job, attempt: 6, what: 'repository', name: 'b', found: true } as const;
      expect(after(withRepository, { type: 'ProvisioningLeftoverRemoved', data })?.steps[0]).toStrictEqual({
        id: 'github_create_repo',
        status: 'pending',
        attempts: 2,
      });
      const other = { ...data, what: 'project' } as const;
      expect(after(withRepository, { type: 'ProvisioningLeftoverRemoved', data: other })).toStrictEqual(withRepository);
    });

    test('ProvisioningRetried from the first step forgets the compensation and what failed', () => {
      const compensated: ProvisioningDocument = { ...failed, cleanup: { status: 'succeeded' } };
      const again = after(compensated, { type: 'ProvisioningRetried', data: { ...job, step: 'github_create_repo', run: 2 } });
      expect(again).not.toHaveProperty('cleanup');
      expect(again?.steps.map(({ status }) => status)).toEqual(stepIds.map(() => 'pending'));
    });
  });
});
