import type { Actor, Recorded } from '../envelope.js';
import type { StreamReader } from '../streamReader.js';
import { blockAfter, type DeliveryBlock } from './delivery.block.js';
import { changesBetween, type DeliveryChange } from './delivery.changes.js';
import type { DeliveryEvent } from './delivery.events.js';
import { deliveryStream } from './delivery.stream.js';

/** One change of a delivery block in its history. */
export interface DeliveryHistoryEntry {
  readonly revision: bigint;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: Actor;
  readonly type: DeliveryEvent['type'];
  readonly changes: readonly DeliveryChange[];
  readonly reason?: string;
  /** Whether clients may read the reason. */
  readonly reasonVisible?: boolean;
  /** Of an undo: the revision of the change that it undid, and all after it. */
  readonly undid?: number;
  /** As the change left it. */
  readonly block: DeliveryBlock | null;
}

/** What these read: the event log, and nothing that was derived from it. */
export type DeliveryLog = Pick<StreamReader, 'history'>;

/** One event of a delivery block, with the block before and after it. */
export interface DeliveryStep {
  readonly event: Recorded<DeliveryEvent>;
  readonly before: DeliveryBlock | null;
  readonly after: DeliveryBlock | null;
}

/**
 * Every event of the block, oldest first, up to a time (ISO 8601 UTC with milliseconds) when there
 * is one.
 */
export async function* deliverySteps(log: DeliveryLog, websiteId: string, until?: string): AsyncGenerator<DeliveryStep, void> {
  let before: DeliveryBlock | null = null;
  for await (const event of log.history<DeliveryEvent, { websiteId: string }>(deliveryStream, { websiteId })) {
    // Within a stream time never steps back.
    if (until !== undefined && event.metadata.at > until) return;
    const after = blockAfter(before, event);
    yield { event, before, after };
    before = after;
  }
}

/** Every change of the block, in the order and up to the time of `deliverySteps`. */
export async function* deliveryHistory(
  log: DeliveryLog,
  websiteId: string,
  until?: string,
): AsyncGenerator<DeliveryHistoryEntry, void> {
  for await (const step of deliverySteps(log, websiteId, until)) yield entryOf(step);
}

/** Why it was changed, where that was said. */
export const reasonOf = (event: DeliveryEvent): { readonly reason?: string; readonly reasonVisible?: boolean } => {
  const { reason, reasonVisible }: { reason?: string; reasonVisible?: boolean } =
    event.type === 'DeliverySetUp' || event.type === 'DeliveryReplaced' ? event.data : {};
  return { ...(reason !== undefined && { reason }), ...(reasonVisible !== undefined && { reasonVisible }) };
};

const entryOf = ({ event, before, after: block }: DeliveryStep): DeliveryHistoryEntry => {
  return {
    revision: event.revision,
    at: event.metadata.at,
    actor: event.metadata.actor,
    type: event.type,
    changes: block === null ? [] : changesBetween(before, block),
    ...reasonOf(event),
    ...(event.type === 'DeliveryUndone' && { undid: event.data.revision }),
    block,
  };
};

/** The changes after a revision (exclusive), oldest first, at most `limit`. */
export const deliveryHistoryPage = async (
  log: DeliveryLog,
  websiteId: string,
  { after, limit }: { after: bigint; limit: number },
): Promise<readonly DeliveryHistoryEntry[]> => {
  const page: DeliveryHistoryEntry[] = [];
  for await (const entry of deliveryHistory(log, websiteId)) {
    if (entry.revision > after) page.push(entry);
    if (page.length === limit) break;
  }
  return page;
};

/**
 * The block as it was at a time (ISO 8601 UTC with milliseconds), with the revision of the last change
 * up to then; `null` when there was none.
 */
export const deliveryAt = async (
  log: DeliveryLog,
  websiteId: string,
  at: string,
): Promise<{ readonly block: DeliveryBlock; readonly revision: bigint } | null> => {
  let last: DeliveryStep | null = null;
  for await (const step of deliverySteps(log, websiteId, at)) last = step;
  const block = last?.after ?? null;
  return last === null || block === null ? null : { block, revision: last.event.revision };
};

/**
 * The block before the change that has `revision`; `null` when there is no such change, or no block
 * before it.
 */
export const deliveryBefore = async (log: DeliveryLog, websiteId: string, revision: number): Promise<DeliveryBlock | null> => {
  for await (const { event, before } of deliverySteps(log, websiteId)) {
    if (event.revision === BigInt(revision)) return before;
  }
  return null;
};
