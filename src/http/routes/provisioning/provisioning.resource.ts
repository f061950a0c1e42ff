import { Type, type Static } from 'typebox';
import { StepId } from '../../../events/provisioning.events.js';
import type { ProvisioningDocument } from '../../../projections/provisioning.projection.js';
import type { Caller } from '../../auth/caller.js';

const Time = Type.String({ format: 'date-time' });

/** ProvisioningJob (api.md, section 5). */
export const ProvisioningJob = Type.Object(
  {
    id: Type.String(),
    websiteId: Type.String(),
    status: Type.Enum(['queued', 'running', 'succeeded', 'failed']),
    reason: Type.Optional(Type.String({ description: 'Why it failed: the step, and what went wrong in it.' })),
    steps: Type.Array(
      Type.Object({
        id: StepId,
        status: Type.Enum(['pending', 'running', 'succeeded', 'failed'], {
          description: 'A step that waits for its next attempt is `running`, with `nextAttemptAt`.',
        }),
        attempts: Type.Integer({ minimum: 0 }),
        startedAt: Type.Optional(Time),
        finishedAt: Type.Optional(Time),
        nextAttemptAt: Type.Optional(Time),
        error: Type.Optional(Type.String({ description: 'What went wrong in the last attempt.' })),
        output: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'For admins: names and ids of what the step made; differs by step.',
          }),
        ),
      }),
      { description: 'All of them, in the order in which they run.' },
    ),
    createdAt: Time,
    finishedAt: Type.Optional(Time),
  },
  { $id: 'ProvisioningJob' },
);

/** What the steps made is the agency's business: clients see how far they are. */
export const toProvisioningJob = (
  { steps, ...job }: ProvisioningDocument,
  role: Caller['role'],
): Static<typeof ProvisioningJob> => ({
  ...job,
  steps: steps.map(({ output, ...step }) => ({
    ...step,
    ...(output !== undefined && role === 'admin' && { output: { ...output } }),
  })),
});
