import {
  provisioningStream,
  stepIds,
  type ProvisioningEvent,
  type StepId,
  type StepResult,
} from '../events/provisioning.events.js';
import type { Projection } from './projection.js';

/** ProvisioningJob (api.md, section 5). */
export type ProvisioningDocument = {
  readonly id: string;
  readonly websiteId: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  readonly reason?: string;
  readonly steps: readonly ProvisioningStep[];
  readonly createdAt: string;
  readonly finishedAt?: string;
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
  ],
  ignores: ['ProvisioningLeaseRenewed'],
  documentId: ({ data }) => data.jobId,
  stream: provisioningStream,
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
        const { reason: _, finishedAt: __, ...rest } = document;
        return withStep({ ...rest, status: 'queued' }, event.data.step, ({ id, attempts }) => ({
          id,
          status: 'pending',
          attempts,
        }));
      }
      case 'ProvisioningSucceeded':
        return { ...document, status: 'succeeded', finishedAt: at };
      default:
        return document;
    }
  },
};
