import type { DeliveryBlockContent } from './delivery.block.js';
import type { DeliveryCheckpoint } from './delivery.events.js';
import type { JsonValue } from '../envelope.js';

/** One difference between a delivery block and the next; `null` stands for what is not there. */
export type DeliveryChange = {
  /**
   * A field (`estimatedCompletionAt`), a checkpoint (`checkpoints.qa`), a field of one
   * (`checkpoints.qa.status`), or `checkpoints`: their sequence.
   */
  readonly path: string;
  readonly from: JsonValue;
  readonly to: JsonValue;
};

const blockFields = ['estimatedCompletionAt', 'showPreviewUrl', 'previewUrlOverride'] as const;
const checkpointFields = ['label', 'order', 'status', 'dueAt', 'completedAt', 'neededFromClient'] as const;

/**
 * What is different in `after`; `[]` when the two are the same. Every field of a first block
 * (`before` is `null`) is.
 */
export const changesBetween = (before: DeliveryBlockContent | null, after: DeliveryBlockContent): readonly DeliveryChange[] => {
  const changes: DeliveryChange[] = [];
  const compare = (path: string, from: JsonValue = null, to: JsonValue = null): void => {
    if (from !== to) changes.push({ path, from, to });
  };

  for (const field of blockFields) compare(field, before?.[field], after[field]);

  const earlier = new Map(before?.checkpoints.map((checkpoint) => [checkpoint.id, checkpoint]));
  const later = new Set(after.checkpoints.map(({ id }) => id));
  for (const checkpoint of after.checkpoints) {
    const path = `checkpoints.${checkpoint.id}`;
    const was = earlier.get(checkpoint.id);
    if (was === undefined) compare(path, null, checkpoint);
    else for (const field of checkpointFields) compare(`${path}.${field}`, was[field], checkpoint[field]);
  }
  for (const [id, was] of earlier) if (!later.has(id)) compare(`checkpoints.${id}`, was, null);

  const was = before?.checkpoints ?? [];
  const keptBefore = idsOf(was).filter((id) => later.has(id));
  const keptAfter = idsOf(after.checkpoints).filter((id) => earlier.has(id));
  if (keptBefore.join() !== keptAfter.join()) compare('checkpoints', idsOf(was), idsOf(after.checkpoints));
  return changes;
};

const idsOf = (checkpoints: readonly DeliveryCheckpoint[]): string[] => checkpoints.map(({ id }) => id);
