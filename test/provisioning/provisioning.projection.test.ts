import { provisioningEvents, stepIds, type StepId } from '../../src/events/provisioning/provisioning.events.js';
import {
  provisioningProjection,
  type ProvisioningDocument,
  type ProvisioningStep,
} from '../../src/projections/provisioning/provisioning.projection.js';
import { earlier } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const later = '2026-01-04T00:00:00.000Z';
const job = { jobId: 'j1', websiteId: 'w1' };
const step = 'github_invite_collaborator' as const;
const ofStep = { ...job, step, attempt: 1 };
const queued: ProvisioningDocument = {
  id: 'j1',
  websiteId: 'w1',
  status: 'queued',
  steps: [
    { id: 'github_create_repo', status: 'pending', attempts: 0 },
    { id: 'github_invite_collaborator', status: 'pending', attempts: 0 },
    { id: 'vercel_create_project', status: 'pending', attempts: 0 },
    { id: 'vercel_set_env_vars', status: 'pending', attempts: 0 },
    { id: 'vercel_initial_deploy', status: 'pending', attempts: 0 },
    { id: 'finalize', status: 'pending', attempts: 0 },
  ],
  createdAt: earlier,
};

/** The job with its second step as said. */
const withStep = (changes: Partial<ProvisioningStep>, ofJob: Partial<ProvisioningDocument> = {}, id: StepId = step) => ({
  ...queued,
  ...ofJob,
  steps: queued.steps.map((one) => (one.id === id ? { ...one, ...changes } : one)),
});
const begun = { status: 'running', attempts: 1, startedAt: earlier } as const;
const running = withStep(begun, { status: 'running' });
const waiting = withStep({ ...begun, error: 'Oh', nextAttemptAt: later }, { status: 'running' });
const failed = withStep(
  { status: 'failed', attempts: 5, startedAt: earlier, error: 'Oh', finishedAt: earlier },
  { status: 'failed', reason: 'github_invite_collaborator: Oh', finishedAt: earlier },
);
const output = { invited: ['octocat'] };
const repository = { provider: 'github', id: 'a/b', name: 'b', defaultBranch: 'main', cloneUrl: 'https://x/b.git' };
const made = { status: 'succeeded', attempts: 2, output: repository } as const;
const withRepository = { ...failed, steps: [{ id: stepIds[0], ...made }, ...failed.steps.slice(1)] };
const fault = { ...job, attempt: 6, error: 'Oh' };
const lease = { worker: 'A', leaseUntil: later };

describeProjection(
  provisioningProjection,
  [provisioningEvents],
  {
    ProvisioningQueued: [
      {
        shows: 'six steps pending, in their order',
        when: { ...job, name: 'Bakery', slug: 'bakery', templateId: 'business', collaborators: [], createdAt: earlier },
        then: queued,
      },
    ],
    ProvisioningStepStarted: [
      {
        shows: 'job and step running',
        given: queued,
        when: { ...ofStep, ...lease },
        then: withStep({ status: 'running', attempts: 1, startedAt: happened }, { status: 'running' }),
      },
      {
        shows: 'a further attempt, and when the first began',
        given: waiting,
        when: { ...ofStep, attempt: 2, ...lease },
        then: withStep({ ...begun, attempts: 2, error: 'Oh' }, { status: 'running' }),
      },
      {
        shows: 'no attempt of a compensation, from whose number the next goes on',
        given: withStep({ attempts: 1 }),
        when: { ...ofStep, attempt: 4, ...lease },
        then: withStep({ status: 'running', attempts: 2, startedAt: happened }, { status: 'running' }),
      },
    ],
    ProvisioningStepSucceeded: [running, waiting].map((given) => ({
      shows: `the output, and no error of an earlier attempt (${given === running ? 'the first' : 'a further'} attempt)`,
      given,
      when: { ...ofStep, output },
      then: withStep({ ...begun, status: 'succeeded', finishedAt: happened, output }, { status: 'running' }),
    })),
    ProvisioningStepFailed: [
      {
        shows: 'what went wrong and when the next attempt is',
        given: running,
        when: { ...ofStep, error: 'Oh', transient: true, nextAttemptAt: later },
        then: waiting,
      },
      {
        shows: 'no next attempt when there is none',
        given: waiting,
        when: { ...ofStep, error: 'Oh', transient: true },
        then: withStep({ ...begun, error: 'Oh' }, { status: 'running' }),
      },
    ],
    ProvisioningFailed: [
      {
        shows: 'the end of job and step, with the reason',
        given: running,
        when: { ...job, step, reason: 'Oh' },
        then: withStep(
          { ...begun, status: 'failed', finishedAt: happened },
          { status: 'failed', reason: 'Oh', finishedAt: happened },
        ),
      },
    ],
    ProvisioningRetried: [
      {
        shows: 'the job queued again, and the step that failed',
        given: failed,
        when: { ...job, step, run: 2 },
        then: withStep({ attempts: 5 }),
      },
      {
        shows: 'from the first step: neither the compensation nor what failed',
        given: { ...withRepository, cleanup: { status: 'succeeded' } },
        when: { ...job, step: stepIds[0], run: 2 },
        then: {
          ...withStep({ attempts: 5 }),
          steps: [{ id: stepIds[0], status: 'pending', attempts: 2 }, ...withStep({ attempts: 5 }).steps.slice(1)],
        },
      },
    ],
    ProvisioningSucceeded: [
      { shows: 'the end of the job', given: running, when: job, then: { ...running, status: 'succeeded', finishedAt: happened } },
      { shows: 'nothing of a stream whose beginning is missing', when: job, then: null },
    ],
    ProvisioningCompensationRequested: [{ given: failed, when: job, then: { ...failed, cleanup: { status: 'running' } } }],
    ProvisioningLeftoverRemoved: [
      {
        shows: 'the steps that made it pending again',
        given: withRepository,
        when: { ...job, attempt: 6, what: 'repository', name: 'b', found: true },
        then: { ...failed, steps: [{ id: stepIds[0], status: 'pending', attempts: 2 }, ...failed.steps.slice(1)] },
      },
      {
        shows: 'the steps that made something else as they were',
        given: withRepository,
        when: { ...job, attempt: 6, what: 'project', name: 'b', found: true },
        then: withRepository,
      },
    ],
    ProvisioningCompensationFailed: [
      {
        shows: 'when the next attempt is',
        given: failed,
        when: { ...fault, transient: true, nextAttemptAt: later },
        then: { ...failed, cleanup: { status: 'running', error: 'Oh', nextAttemptAt: later } },
      },
      {
        shows: 'that it is given up',
        given: failed,
        when: { ...fault, transient: false },
        then: { ...failed, cleanup: { status: 'failed', error: 'Oh' } },
      },
    ],
    ProvisioningCompensated: [{ given: failed, when: job, then: { ...failed, cleanup: { status: 'succeeded' } } }],
  },
  job.jobId,
);
