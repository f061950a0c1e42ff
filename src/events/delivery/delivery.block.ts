import type { DeliveryCheckpoint, DeliveryEvent } from './delivery.events.js';
import { copyWith } from '../../platform/copyWith.js';
import type { Recorded } from '../envelope.js';

/** A website's delivery block as its events leave it. */
export type DeliveryBlock = {
  readonly websiteId: string;
  readonly estimatedCompletionAt: string;
  readonly showPreviewUrl: boolean;
  /** Absent: unset. Never empty. */
  readonly previewUrlOverride?: string;
  /** By `order`, then in the sequence in which they were sent. */
  readonly checkpoints: readonly DeliveryCheckpoint[];
  /** Time of the last change. */
  readonly updatedAt: string;
};

/** What a decision sets: everything but the time, which the event's metadata holds. */
export type DeliveryBlockContent = Omit<DeliveryBlock, 'updatedAt'>;

/**
 * The only fold of delivery events: decisions, the read model, the history and the audit all use
 * it.
 */
export const blockAfter = (block: DeliveryBlock | null, event: Recorded<DeliveryEvent>): DeliveryBlock | null => {
  const updatedAt = event.metadata.at;
  switch (event.type) {
    case 'DeliverySetUp':
    case 'DeliveryReplaced':
    case 'DeliveryUndone':
      return copyWith(contentOf(event.data), { updatedAt });
    case 'DeliveryCheckpointStatusSet':
      return block === null ? null : { ...block, checkpoints: withStatus(block.checkpoints, event.data), updatedAt };
    default:
      return event satisfies never;
  }
};

/** Only the fields of a block, from anything that has them. */
export const contentOf = (source: DeliveryBlockContent): DeliveryBlockContent & { checkpoints: DeliveryCheckpoint[] } => {
  const { websiteId, estimatedCompletionAt, showPreviewUrl, previewUrlOverride, checkpoints } = source;
  return {
    websiteId,
    estimatedCompletionAt,
    showPreviewUrl,
    ...(previewUrlOverride !== undefined && { previewUrlOverride }),
    checkpoints: [...checkpoints],
  };
};

type StatusSet = Extract<DeliveryEvent, { type: 'DeliveryCheckpointStatusSet' }>['data'];

const withStatus = (checkpoints: readonly DeliveryCheckpoint[], change: StatusSet): DeliveryCheckpoint[] =>
  checkpoints.map((checkpoint) => {
    if (checkpoint.id !== change.checkpointId) return checkpoint;
    const { completedAt: _, neededFromClient, ...rest } = checkpoint;
    const { status, completedAt } = change;
    return copyWith(rest, {
      status,
      ...(completedAt !== undefined && { completedAt }),
      ...(neededFromClient !== undefined && status !== 'done' && { neededFromClient }),
    });
  });
