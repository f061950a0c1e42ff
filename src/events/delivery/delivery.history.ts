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

/**
 * Every change of the block, oldest first, up to a time (ISO 8601 UTC with milliseconds) when there
 * is one.
 */
export async function* deliveryHistory(
  log: DeliveryLog,
  websiteId: string,
  until?: string,
): AsyncGenerator<DeliveryHistoryEntry, void> {
  let block: DeliveryBlock | null = null;
  for await (const event of log.history<DeliveryEvent, { websiteId: string }>(deliveryStream, { websiteId })) {
    // Within a stream time never steps back.
    if (until !== undefined && event.metadata.at > until) return;
    const entry: DeliveryHistoryEntry = entryOf(event, block);
    yield entry;
    block = entry.block;
  }
}

const entryOf = (event: Recorded<DeliveryEvent>, before: DeliveryBlock | null): DeliveryHistoryEntry => {
  const block = blockAfter(before, event);
  const why = event.type === 'DeliverySetUp' || event.type === 'DeliveryReplaced' ? event.data : undefined;
  return {
    revision: event.revision,
    at: event.metadata.at,
    actor: event.metadata.actor,
    type: event.type,
    changes: block === null ? [] : changesBetween(before, block),
    ...(why?.reason !== undefined && { reason: why.reason }),
    ...(why?.reasonVisible !== undefined && { reasonVisible: why.reasonVisible }),
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
 * The last change up to a time (ISO 8601 UTC with milliseconds), with the block as it was then;
 * `null` when there was none.
 */
export const deliveryAt = async (log: DeliveryLog, websiteId: string, at: string): Promise<DeliveryHistoryEntry | null> => {
  let last: DeliveryHistoryEntry | null = null;
  for await (const entry of deliveryHistory(log, websiteId, at)) last = entry;
  return last;
};

/**
 * The block before the change that has `revision`; `null` when there is no such change, or no block
 * before it.
 */
export const deliveryBefore = async (log: DeliveryLog, websiteId: string, revision: number): Promise<DeliveryBlock | null> => {
  let before: DeliveryBlock | null = null;
  for await (const entry of deliveryHistory(log, websiteId)) {
    if (entry.revision === BigInt(revision)) return before;
    before = entry.block;
  }
  return null;
};
