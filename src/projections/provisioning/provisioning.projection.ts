import {
  stepIds,
  type ProvisioningEvent,
  type Leftover,
  type StepId,
  type StepResult,
} from '../../events/provisioning/provisioning.events.js';
import { provisioningStream } from '../../events/provisioning/provisioning.stream.js';
import { defineProjection, type Projection } from '../projection.js';
import { copyWith } from '../../platform/copyWith.js';

/** ProvisioningJob (api.md, section 5). */
export type ProvisioningDocument = {
  readonly id: string;
  readonly websiteId: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  readonly reason?: string;
  readonly steps: readonly ProvisioningStep[];
  readonly createdAt: string;
  readonly finishedAt?: string;
  /** Of a failed job: the state of its compensation. */
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
  /** Counts every attempt that was started, also in earlier runs. */
  readonly attempts: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly nextAttemptAt?: string;
  readonly error?: string;
  readonly output?: StepResult['output'];
};

/** A job that no worker has started yet. */
export const queuedJob = (job: { id: string; websiteId: string; createdAt: string }): ProvisioningDocument => ({
  id: job.id,
  websiteId: job.websiteId,
  status: 'queued',
  steps: stepIds.map((id) => ({ id, status: 'pending', attempts: 0 })),
  createdAt: job.createdAt,
});

const change = (document: ProvisioningDocument | null, changes: Partial<ProvisioningDocument>): ProvisioningDocument | null =>
  document === null ? null : copyWith(document, changes);

const changeStep = (
  document: ProvisioningDocument | null,
  id: StepId,
  changeOf: (step: ProvisioningStep) => ProvisioningStep,
): ProvisioningDocument | null =>
  document === null ? null : { ...document, steps: document.steps.map((step) => (step.id === id ? changeOf(step) : step)) };

const madeWith: Readonly<Record<Leftover, readonly StepId[]>> = {
  project: ['vercel_create_project', 'vercel_set_env_vars', 'vercel_initial_deploy'],
  repository: ['github_create_repo', 'github_invite_collaborator'],
};

/**
 * What these steps made is removed, so they must run again. The step that failed keeps its error.
 */
const withoutOutputs = (steps: readonly ProvisioningStep[], removed: Leftover): readonly ProvisioningStep[] =>
  steps.map((step) =>
    madeWith[removed].includes(step.id) && step.status === 'succeeded'
      ? { id: step.id, status: 'pending', attempts: step.attempts }
      : step,
  );

const ended = ({ nextAttemptAt: _, error: __, ...step }: ProvisioningStep): ProvisioningStep => step;

export const provisioningProjection: Projection<ProvisioningDocument, ProvisioningEvent> = defineProjection({
  name: 'provisioning',
  version: 2,
  // Only how attempts were counted is other there.
  readsFrom: 1,
  stream: provisioningStream,
  on: {
    ProvisioningQueued: (_document, { data: { jobId: id, websiteId, createdAt } }) => queuedJob({ id, websiteId, createdAt }),
    // Counted here: the number in the event goes on from the attempts of a compensation.
    ProvisioningStepStarted: (document, { data: { step: id }, metadata: { at } }) =>
      changeStep(change(document, { status: 'running' }), id, ({ nextAttemptAt: _, ...step }) =>
        copyWith(step, { status: 'running', attempts: step.attempts + 1, startedAt: step.startedAt ?? at }),
      ),
    ProvisioningStepSucceeded: (document, { data: { step: id, output }, metadata: { at } }) =>
      changeStep(document, id, (step) => copyWith(ended(step), { status: 'succeeded', finishedAt: at, output })),
    ProvisioningStepFailed: (document, { data: { step: id, error, nextAttemptAt } }) =>
      changeStep(document, id, (step) => ({
        ...ended(step),
        error,
        ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      })),
    ProvisioningFailed: (document, { data: { step: id, reason }, metadata: { at } }) =>
      changeStep(change(document, { status: 'failed', reason, finishedAt: at }), id, (step) => ({
        ...step,
        status: 'failed',
        finishedAt: at,
      })),
    ProvisioningRetried: (document, { data: { step: resumed } }) => {
      if (document === null) return null;
      const { reason: _, finishedAt: __, cleanup: ___, ...rest } = document;
      const steps = rest.steps.map((step): ProvisioningStep => {
        const isRepeated = step.id === resumed || step.status === 'failed';
        return isRepeated ? { id: step.id, status: 'pending', attempts: step.attempts } : step;
      });
      return { ...rest, steps, status: 'queued' };
    },
    ProvisioningSucceeded: (document, { metadata: { at } }) => change(document, { status: 'succeeded', finishedAt: at }),
    ProvisioningCompensationRequested: (document) => change(document, { cleanup: { status: 'running' } }),
    ProvisioningLeftoverRemoved: (document, { data: { what } }) =>
      document === null ? null : { ...document, steps: withoutOutputs(document.steps, what) },
    ProvisioningCompensationFailed: (document, { data: { error, nextAttemptAt } }) =>
      change(document, {
        cleanup: nextAttemptAt === undefined ? { status: 'failed', error } : { status: 'running', error, nextAttemptAt },
      }),
    ProvisioningCompensated: (document) => change(document, { cleanup: { status: 'succeeded' } }),
  },
  ignores: [
    'ProvisioningLeaseRenewed',
    'ProvisioningRequestsAnswered',
    'ProvisioningCompensationStarted',
    'ProvisioningCompensationLeaseRenewed',
  ],
  indexes: [{ field: 'status' }],
});
