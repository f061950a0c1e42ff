import type { DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryCheckpoint, DeliveryCheckpointStatus } from '../../events/delivery/delivery.events.js';
import type { OfWebsite } from '../decider.js';

/**
 * Sets the block up, or replaces it. Times are ISO 8601 UTC with milliseconds. Every field is
 * optional the first time. Later `estimatedCompletionAt` and `showPreviewUrl` are required, and
 * other fields that are left out keep their value (specification, rules 3–5). A reason is recorded even
 * when the block stays as it is, unless it is the last change's.
 */
export interface ReplaceDelivery extends OfWebsite {
  readonly type: 'ReplaceDelivery';
  readonly estimatedCompletionAt?: string | undefined;
  readonly showPreviewUrl?: boolean | undefined;
  /** Empty: unset it. */
  readonly previewUrlOverride?: string | undefined;
  /** The whole list. The sender cannot set `completedAt`; a blank `neededFromClient` is none. */
  readonly checkpoints?: readonly Omit<DeliveryCheckpoint, 'completedAt'>[] | undefined;
  readonly reason?: string | undefined;
  /** Whether clients may read the reason. */
  readonly reasonVisible?: boolean | undefined;
}

export interface SetCheckpointStatus extends OfWebsite {
  readonly type: 'SetCheckpointStatus';
  readonly checkpointId: string;
  readonly status: DeliveryCheckpointStatus;
}

/** Restores the whole block as it was before one of its changes. */
export interface UndoDeliveryChange extends OfWebsite {
  readonly type: 'UndoDeliveryChange';
  /** Of the change, in the block's stream. */
  readonly revision: number;
  /**
   * The block before that change, read from the log, where it never changes; `null` when there is
   * none.
   */
  readonly before: DeliveryBlock | null;
}

export type DeliveryCommand = ReplaceDelivery | SetCheckpointStatus | UndoDeliveryChange;
