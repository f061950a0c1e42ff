import type { Recorded } from '../envelope.js';
import type { DeliveryBlock } from './delivery.block.js';
import { changesBetween, type DeliveryChange } from './delivery.changes.js';
import type { DeliveryEvent } from './delivery.events.js';
import { reasonOf } from './delivery.reason.js';

/** One event of a delivery block, with the block before and after it. */
export interface DeliveryStep {
  readonly event: Recorded<DeliveryEvent>;
  readonly before: DeliveryBlock | null;
  readonly after: DeliveryBlock | null;
}

/** One change of a delivery block as clients may see it. */
export interface VisibleChange {
  readonly revision: bigint;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly changes: readonly DeliveryChange[];
  /** Only when clients may read it. */
  readonly reason?: string;
}

/** The block without what clients never receive. */
const visible = ({ previewUrlOverride: _, ...block }: DeliveryBlock): DeliveryBlock => block;

/** What clients may see of a step; `null` when nothing of it is visible, not even a reason. */
export const visibleChange = ({ event, before, after }: DeliveryStep): VisibleChange | null => {
  if (after === null) return null;
  const changes = changesBetween(before === null ? null : visible(before), visible(after));
  const { reason, reasonVisible } = reasonOf(event);
  const why = reason !== undefined && reasonVisible === true ? { reason } : {};
  if (changes.length === 0 && !('reason' in why)) return null;
  return { revision: event.revision, at: event.metadata.at, changes, ...why };
};

/** Where the block's own preview leads for clients, if anywhere. */
const shownAddress = (block: DeliveryBlock | null): string | undefined =>
  block?.showPreviewUrl === true ? block.previewUrlOverride : undefined;

/**
 * Whether clients see anything else after a step: a change that they may see, or another address of
 * the preview, which no list of changes names.
 */
export const isSeenByClients = (step: DeliveryStep): boolean =>
  visibleChange(step) !== null || shownAddress(step.before) !== shownAddress(step.after);
