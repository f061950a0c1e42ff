import {
  stepIds,
  type ProvisioningEvent,
  type Remains,
  type StepId,
  type StepResult,
} from '../../events/provisioning/provisioning.events.js';
import type { Projection } from '../projection.js';
import { provisioningStream } from '../../events/provisioning/provisioning.stream.js';

/** ProvisioningJob (api.md, section 5). */
export type ProvisioningDocument = {
  readonly id: string;
  readonly websiteId: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  readonly reason?: string;
  readonly steps: readonly ProvisioningStep[];
  readonly createdAt: string;
  readonly finishedAt?: string;
  /** Of a failed job: how the removal of what it had made stands. */
  readonly cleanup?: {
    readonly status: 'running' | 'succeeded' | 'failed';
    readonly error?: string;
    readonly nextAttemptAt?: string;
  };
};

export type ProvisioningStep = {
  readonly id: StepId;
  /** A step that waits for its next attempt is `running`, with `nextAttemptAt`. */
  readonly status: 'pending' | 'running' | 'succeeded' | 'failed';
  /** All that were begun, in earlier runs too. */
  readonly attempts: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly nextAttemptAt?: string;
  readonly error?: string;
  readonly output?: StepResult['output'];
};

/** A job that no worker has taken up yet. */
export const queuedJob = (job: { id: string; websiteId: string; createdAt: string }): ProvisioningDocument => ({
  id: job.id,
  websiteId: job.websiteId,
  status: 'queued',
  steps: stepIds.map((id) => ({ id, status: 'pending', attempts: 0 })),
  createdAt: job.createdAt,
});

type StepChange = (step: ProvisioningStep) => ProvisioningStep;

const withStep = (document: ProvisioningDocument, id: StepId, change: StepChange): ProvisioningDocument => ({
  ...document,
  steps: document.steps.map((step) => (step.id === id ? change(step) : step)),
});

const madeWith: Readonly<Record<Remains, readonly StepId[]>> = {
  project: ['vercel_create_project', 'vercel_set_env_vars', 'vercel_initial_deploy'],
  repository: ['github_create_repo', 'github_invite_collaborator'],
};

/** What was made in a step is not there any more, and is to be made again. The step that failed goes on to say so. */
const withoutOutputs = (steps: readonly ProvisioningStep[], removed: Remains): readonly ProvisioningStep[] =>
  steps.map((step) =>
    madeWith[removed].includes(step.id) && step.status === 'succeeded'
      ? { id: step.id, status: 'pending', attempts: step.attempts }
      : step,
  );

const ended = ({ nextAttemptAt: _, error: __, ...step }: ProvisioningStep): ProvisioningStep => step;

export const provisioningProjection: Projection<ProvisioningDocument, ProvisioningEvent> = {
  name: 'provisioning',
  version: 1,
  handles: [
    'ProvisioningQueued',
    'ProvisioningStepStarted',
    'ProvisioningStepSucceeded',
    'ProvisioningStepFailed',
    'ProvisioningFailed',
    'ProvisioningRetried',
    'ProvisioningSucceeded',
    'ProvisioningCleanupRequested',
    'ProvisioningRemainsRemoved',
    'ProvisioningCleanupFailed',
    'ProvisioningCleanedUp',
  ],
  ignores: ['ProvisioningLeaseRenewed', 'ProvisioningCleanupStarted', 'ProvisioningCleanupLeaseRenewed'],
  documentId: ({ data }) => data.jobId,
  stream: (jobId) => provisioningStream.name({ jobId }),
  indexes: [{ field: 'status' }],
  evolve: (document, event) => {
    const { at } = event.metadata;
    if (event.type === 'ProvisioningQueued') {
      const { jobId: id, websiteId, createdAt } = event.data;
      return queuedJob({ id, websiteId, createdAt });
    }
    if (document === null) return null;
    switch (event.type) {
      case 'ProvisioningStepStarted': {
        const { step: id, attempt } = event.data;
        return withStep({ ...document, status: 'running' }, id, (step) => {
          const { nextAttemptAt: _, ...rest } = step;
          return { ...rest, status: 'running', attempts: attempt, startedAt: step.startedAt ?? at };
        });
      }
      case 'ProvisioningStepSucceeded': {
        const { step: id, output } = event.data;
        return withStep(document, id, (step) => ({ ...ended(step), status: 'succeeded', finishedAt: at, output }));
      }
      case 'ProvisioningStepFailed': {
        const { step: id, error, nextAttemptAt } = event.data;
        return withStep(document, id, (step) => ({
          ...ended(step),
          error,
          ...(nextAttemptAt !== undefined && { nextAttemptAt }),
        }));
      }
      case 'ProvisioningFailed': {
        const { step: id, reason } = event.data;
        return withStep({ ...document, status: 'failed', reason, finishedAt: at }, id, (step) => ({
          ...step,
          status: 'failed',
          finishedAt: at,
        }));
      }
      case 'ProvisioningRetried': {
        const { reason: _, finishedAt: __, cleanup: ___, ...rest } = document;
        const steps = rest.steps.map((step): ProvisioningStep => {
          const isToCome = step.id === event.data.step || step.status === 'failed';
          return isToCome ? { id: step.id, status: 'pending', attempts: step.attempts } : step;
        });
        return { ...rest, steps, status: 'queued' };
      }
      case 'ProvisioningCleanupRequested':
        return { ...document, cleanup: { status: 'running' } };
      case 'ProvisioningRemainsRemoved':
        return { ...document, steps: withoutOutputs(document.steps, event.data.what) };
      case 'ProvisioningCleanupFailed': {
        const { error, nextAttemptAt } = event.data;
        const isGivenUp = nextAttemptAt === undefined;
        return { ...document, cleanup: isGivenUp ? { status: 'failed', error } : { status: 'running', error, nextAttemptAt } };
      }
      case 'ProvisioningCleanedUp':
        return { ...document, cleanup: { status: 'succeeded' } };
      case 'ProvisioningSucceeded':
        return { ...document, status: 'succeeded', finishedAt: at };
      default:
        return document;
    }
  },
};
