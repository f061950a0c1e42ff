import type { DeliveryBlockContent } from '../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import { deliveryStream } from '../../events/delivery/delivery.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** When each step of a website's delivery was done, for forecasts of others. */
export type PaceDocument = {
  readonly setUpAt: string;
  readonly estimatedCompletionAt: string;
  readonly steps: readonly PaceStep[];
  /** The ids of the steps that are done: for finding deliveries by them. */
  readonly done: readonly string[];
  /** The ETA that stood when the first step was done; absent while none is. */
  readonly promisedAt?: string;
  /** When the last step was done; absent while one is open. */
  readonly finishedAt?: string;
  /** Present with `finishedAt`: for finding finished deliveries. */
  readonly finished?: 'yes';
};

export type PaceStep = { readonly id: string; readonly completedAt?: string };

/** With everything that follows from the steps. */
const withSteps = (
  { setUpAt, promisedAt }: Pick<PaceDocument, 'setUpAt' | 'promisedAt'>,
  estimatedCompletionAt: string,
  steps: readonly PaceStep[],
): PaceDocument => {
  const done = steps.filter(({ completedAt }) => completedAt !== undefined);
  const times = done.map(({ completedAt = '' }) => completedAt).sort();
  const finishedAt = done.length === steps.length ? times.at(-1) : undefined;
  return {
    setUpAt,
    estimatedCompletionAt,
    steps,
    done: done.map(({ id }) => id),
    ...(done.length > 0 && { promisedAt: promisedAt ?? estimatedCompletionAt }),
    ...(finishedAt !== undefined && { finishedAt, finished: 'yes' }),
  };
};

const withBlock = (document: PaceDocument | null, block: DeliveryBlockContent, at: string): PaceDocument =>
  withSteps(
    document ?? { setUpAt: at },
    block.estimatedCompletionAt,
    block.checkpoints.map(({ id, completedAt }) => ({ id, ...(completedAt !== undefined && { completedAt }) })),
  );

/** By the website's id, which sorts by time. */
export const forecastProjection: Projection<PaceDocument, DeliveryEvent> = defineProjection({
  name: 'forecast',
  version: 1,
  stream: deliveryStream,
  indexes: [{ field: 'finished' }, { field: 'done' }],
  on: {
    DeliverySetUp: (document, { data, metadata: { at } }) => withBlock(document, data, at),
    DeliveryReplaced: (document, { data, metadata: { at } }) => withBlock(document, data, at),
    DeliveryUndone: (document, { data, metadata: { at } }) => withBlock(document, data, at),
    DeliveryCheckpointStatusSet: (document, { data: { checkpointId, completedAt } }) => {
      if (document === null) return null;
      const steps = document.steps.map((step) =>
        step.id === checkpointId ? { id: step.id, ...(completedAt !== undefined && { completedAt }) } : step,
      );
      return withSteps(document, document.estimatedCompletionAt, steps);
    },
  },
});
