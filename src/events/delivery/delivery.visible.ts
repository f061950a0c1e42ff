import type { DeliveryBlock } from './delivery.block.js';
import { changesBetween, type DeliveryChange } from './delivery.changes.js';
import { beginning, deliverySteps, keptBlocks, reasonOf, type DeliveryStep, type KeptDeliveryLog } from './delivery.history.js';
import { keptInterval } from './delivery.keptBlocks.js';

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

/** `null` when nothing of it is visible, not even a reason. */
const visibleChange = ({ event, before, after }: DeliveryStep): VisibleChange | null => {
  if (after === null) return null;
  const changes = changesBetween(before === null ? null : visible(before), visible(after));
  const { reason, reasonVisible } = reasonOf(event);
  const why = reason !== undefined && reasonVisible === true ? { reason } : {};
  if (changes.length === 0 && !('reason' in why)) return null;
  return { revision: event.revision, at: event.metadata.at, changes, ...why };
};

/**
 * The changes after a revision (exclusive) as clients may see them, newest first. One of which
 * nothing is visible, not even a reason, is left out.
 * @param before only those before this revision
 */
export const visibleChanges = async (
  log: KeptDeliveryLog,
  websiteId: string,
  { after, before, limit }: { readonly after: bigint; readonly before?: bigint; readonly limit: number },
): Promise<readonly VisibleChange[]> => {
  const isWanted = (revision: bigint): boolean => revision > after && (before === undefined || revision < before);
  const starts = [beginning, ...(await keptBlocks(log, websiteId))];
  const found: VisibleChange[] = [];
  // From one kept block to the next, the newest first; after the last one to the end of the stream.
  for (let index = starts.length - 1; index >= 0 && found.length < limit; index -= 1) {
    const start = starts[index] ?? beginning;
    const end = starts[index + 1]?.revision;
    if (end !== undefined && end <= after) break;
    if (before !== undefined && before <= start.revision + 1n) continue;
    const part: VisibleChange[] = [];
    for await (const step of deliverySteps(log, websiteId, start, keptInterval)) {
      const { revision } = step.event;
      const change = isWanted(revision) ? visibleChange(step) : null;
      if (change !== null) part.push(change);
      if (revision === end) break;
    }
    found.push(...part.reverse());
  }
  return found.slice(0, limit);
};
