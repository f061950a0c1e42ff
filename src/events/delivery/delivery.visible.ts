import type { DeliveryBlock } from './delivery.block.js';
import { changesBetween, type DeliveryChange } from './delivery.changes.js';
import { deliverySteps, reasonOf, type DeliveryLog } from './delivery.history.js';

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

/**
 * The changes after a revision (exclusive) as clients may see them, newest first. One of which
 * nothing is visible, not even a reason, is left out.
 */
export const visibleChanges = async (log: DeliveryLog, websiteId: string, after: bigint): Promise<readonly VisibleChange[]> => {
  const found: VisibleChange[] = [];
  for await (const { event, before, after: block } of deliverySteps(log, websiteId)) {
    if (event.revision <= after || block === null) continue;
    const changes = changesBetween(before === null ? null : visible(before), visible(block));
    const { reason, reasonVisible } = reasonOf(event);
    const why = reason !== undefined && reasonVisible === true ? { reason } : {};
    if (changes.length > 0 || 'reason' in why) {
      found.push({ revision: event.revision, at: event.metadata.at, changes, ...why });
    }
  }
  return found.reverse();
};
