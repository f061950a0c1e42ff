import { beginning, deliverySteps, keptBlocks, lastOf, type KeptDeliveryLog } from './delivery.history.js';
import { keptBlocksFold, keptInterval } from './delivery.keptBlocks.js';
import { visibleChange, type VisibleChange } from './delivery.steps.js';

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

/** How many changes after a revision (exclusive) clients may see. */
export const countVisibleChanges = async (log: KeptDeliveryLog, websiteId: string, after: bigint): Promise<number> => {
  const { state, revision: last } = await log.state(keptBlocksFold, { websiteId });
  const start = lastOf(state.kept, ({ revision }) => revision <= after);
  let earlier = start.visible;
  for await (const step of deliverySteps(log, websiteId, start, keptInterval)) {
    // What came since is not in the state either.
    if (step.event.revision > after || step.event.revision > last) break;
    if (visibleChange(step) !== null) earlier += 1;
  }
  return state.visible - earlier;
};
