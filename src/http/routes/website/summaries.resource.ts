import { Type, type Static } from 'typebox';
import { StepId } from '../../../events/provisioning/provisioning.events.js';
import type { DeliverySummary as Delivery } from '../../../projections/delivery/delivery.summary.js';

const Count = Type.Integer({ minimum: 0, description: 'Checkpoints.', examples: [2] });

/** How a delivery stands, in lists of websites. */
export const DeliverySummary = Type.Object(
  {
    estimatedCompletionAt: Type.String({ format: 'date-time' }),
    counts: Type.Object(
      { pending: Count, in_progress: Count, done: Count },
      { description: 'How many checkpoints have each status.' },
    ),
    current: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the checkpoint.', examples: ['design-approved'] }),
          label: Type.String(),
          dueAt: Type.Optional(Type.String({ format: 'date-time' })),
        },
        { description: 'The first checkpoint that is in progress; absent while none is.' },
      ),
    ),
    lateFrom: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The ETA, or an earlier deadline of an open checkpoint: from then on the delivery is late. Absent when every checkpoint is done.',
      }),
    ),
    neededFromClient: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the checkpoint.', examples: ['content-loaded'] }),
        label: Type.String(),
        text: Type.String({ description: 'In words for the client.', examples: ['The texts of the pages'] }),
      }),
      { description: 'What the agency waits for, of the checkpoints that are not done.' },
    ),
  },
  { $id: 'DeliverySummary', description: 'How a delivery stands.' },
);

/** How the latest provisioning job stands, in lists of websites. */
export const ProvisioningSummary = Type.Object(
  {
    status: Type.Enum(['queued', 'running', 'succeeded', 'failed']),
    step: Type.Optional(StepId),
    attempts: Type.Optional(Type.Integer({ minimum: 0, description: 'At that step.', examples: [1] })),
    reason: Type.Optional(Type.String({ description: 'Why it failed.' })),
  },
  {
    $id: 'ProvisioningSummary',
    description: 'How the latest provisioning job stands, and the step that runs, failed or comes next.',
  },
);

export const toDeliverySummary = ({ neededFromClient, ...summary }: Delivery): Static<typeof DeliverySummary> => ({
  ...summary,
  neededFromClient: [...neededFromClient],
});
