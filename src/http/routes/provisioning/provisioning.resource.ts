import { Type, type Static } from 'typebox';
import { leftovers, StepId } from '../../../events/provisioning/provisioning.events.js';
import type { ProvisioningDocument } from '../../../projections/provisioning/provisioning.projection.js';
import type { Caller } from '../../auth/caller.js';
import { cloneUrlOf } from '../../cloneUrl.js';

const Time = Type.String({ format: 'date-time' });

/** ProvisioningJob (api.md, section 5). */
export const ProvisioningJob = Type.Object(
  {
    id: Type.String(),
    websiteId: Type.String(),
    status: Type.Enum(['queued', 'running', 'succeeded', 'failed']),
    reason: Type.Optional(Type.String({ description: 'For admins: why it failed, the step and what went wrong in it.' })),
    steps: Type.Array(
      Type.Object({
        id: { ...StepId, description: 'Which step it is.' },
        status: Type.Enum(['pending', 'running', 'succeeded', 'failed'], {
          description: 'A step that waits for its next attempt is `running`, with `nextAttemptAt`.',
        }),
        attempts: Type.Integer({ minimum: 0 }),
        startedAt: Type.Optional(Time),
        finishedAt: Type.Optional(Time),
        nextAttemptAt: Type.Optional(Time),
        error: Type.Optional(Type.String({ description: 'For admins: what went wrong in the last attempt.' })),
        output: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'For admins: names, ids and addresses of what the step made, as of then; differs by step.',
          }),
        ),
      }),
      { description: 'All of them, in the order in which they run.' },
    ),
    createdAt: Time,
    finishedAt: Type.Optional(Time),
    remains: Type.Optional(
      Type.Array(
        Type.Object({
          kind: Type.Enum([...leftovers]),
          provider: Type.Optional(Type.String()),
          id: Type.Optional(Type.String({ description: 'As the provider names it.', examples: ['corner-bakery'] })),
          name: Type.Optional(Type.String()),
          certain: Type.Boolean({ description: 'False when it may have been made by the step that failed.' }),
        }),
        {
          description:
            'For admins, of a failed job: what it has made at the providers, the last made first. A retry goes on with it, a clean-up removes it.',
        },
      ),
    ),
    cleanup: Type.Optional(
      Type.Object(
        {
          status: Type.Enum(['running', 'succeeded', 'failed']),
          error: Type.Optional(Type.String({ description: 'What went wrong in the last attempt.' })),
          nextAttemptAt: Type.Optional(Time),
        },
        { description: 'For admins: how the last clean-up of a failed job stands.' },
      ),
    ),
  },
  { $id: 'ProvisioningJob', description: 'One run of provisioning, step by step.' },
);

/**
 * What the steps made, and the providers' words about what went wrong, are the agency's business:
 * clients see how far the steps are.
 */
export const toProvisioningJob = (
  { id, websiteId, status, reason, steps, createdAt, finishedAt, cleanup }: ProvisioningDocument,
  role: Caller['role'],
  { slug, baseUrl }: { readonly slug: string; readonly baseUrl: () => string },
): Static<typeof ProvisioningJob> => ({
  id,
  websiteId,
  status,
  createdAt,
  ...(finishedAt !== undefined && { finishedAt }),
  ...(reason !== undefined && role === 'admin' && { reason }),
  steps: steps.map(({ output, error, startedAt, finishedAt: stepFinishedAt, nextAttemptAt, ...step }) => ({
    id: step.id,
    status: step.status,
    attempts: step.attempts,
    ...(startedAt !== undefined && { startedAt }),
    ...(stepFinishedAt !== undefined && { finishedAt: stepFinishedAt }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    ...(error !== undefined && role === 'admin' && { error }),
    ...(output !== undefined &&
      role === 'admin' && {
        output: 'cloneUrl' in output ? { ...output, cloneUrl: cloneUrlOf(output, slug, baseUrl) } : { ...output },
      }),
  })),
  ...(role === 'admin' && status === 'failed' && { remains: cleanup?.status === 'succeeded' ? [] : remainsOf(steps) }),
  ...(role === 'admin' && cleanup !== undefined && { cleanup }),
});

const makers = { project: 'vercel_create_project', repository: 'github_create_repo' } as const;

const remainsOf = (steps: ProvisioningDocument['steps']) =>
  leftovers.flatMap((kind) => {
    const step = steps.find(({ id }) => id === makers[kind]);
    if (step?.status === 'failed') return [{ kind, certain: false }];
    const { output } = step ?? {};
    if (output === undefined || !('provider' in output)) return [];
    const { provider, name } = output;
    return [{ kind, provider, id: 'projectId' in output ? output.projectId : output.id, name, certain: true }];
  });
