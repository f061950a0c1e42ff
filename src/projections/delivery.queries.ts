import { deliveryStream } from '../commands/delivery.commands.js';
import type { Codec } from '../events/codec.js';
import { blockAfter, type DeliveryBlock } from '../events/delivery.block.js';
import { changesBetween, type DeliveryChange } from '../events/delivery.changes.js';
import type { DeliveryEvent } from '../events/delivery.events.js';
import type { Actor, Recorded } from '../events/envelope.js';
import type { EventStore } from '../events/store/eventStore.js';

/** What these queries read: the event log, and nothing that was derived from it. */
export interface DeliveryLog {
  readonly eventStore: Pick<EventStore, 'readStream'>;
  readonly codec: Pick<Codec, 'decode'>;
}

/** A delivery block and the revision of the change that made it so. */
export interface DeliveryAsOf {
  readonly block: DeliveryBlock;
  readonly revision: bigint;
}

/** One change of a delivery block, as its history tells it. */
export interface DeliveryHistoryEntry {
  readonly revision: bigint;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: Actor;
  readonly type: DeliveryEvent['type'];
  readonly changes: readonly DeliveryChange[];
  readonly reason?: string;
  /** Whether clients may be told the reason. */
  readonly reasonVisible?: boolean;
}

/** The block as it was at a time (ISO 8601 UTC with milliseconds); `null` when it was not set up yet. */
export const deliveryAt = async (log: DeliveryLog, websiteId: string, at: string): Promise<DeliveryAsOf | null> => {
  let found: DeliveryAsOf | null = null;
  for await (const { event, after } of steps(log, websiteId)) {
    // Within a stream time never steps back.
    if (event.metadata.at > at) break;
    if (after !== null) found = { block: after, revision: event.revision };
  }
  return found;
};

/** The block before the change that has `revision`; `null` when there is no such change, or no block before it. */
export const deliveryBefore = async (log: DeliveryLog, websiteId: string, revision: number): Promise<DeliveryBlock | null> => {
  for await (const { event, before } of steps(log, websiteId)) {
    if (event.revision === BigInt(revision)) return before;
  }
  return null;
};

/** Every change of the block, oldest first. */
export async function* deliveryHistory(log: DeliveryLog, websiteId: string): AsyncGenerator<DeliveryHistoryEntry, void> {
  for await (const { event, before, after } of steps(log, websiteId)) {
    const why = event.type === 'DeliverySetUp' || event.type === 'DeliveryReplaced' ? event.data : undefined;
    yield {
      revision: event.revision,
      at: event.metadata.at,
      actor: event.metadata.actor,
      type: event.type,
      changes: after === null ? [] : changesBetween(before, after),
      ...(why?.reason !== undefined && { reason: why.reason }),
      ...(why?.reasonVisible !== undefined && { reasonVisible: why.reasonVisible }),
    };
  }
}

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

interface Step {
  readonly event: Recorded<DeliveryEvent>;
  readonly before: DeliveryBlock | null;
  readonly after: DeliveryBlock | null;
}

const pageSize = 1_000;

/** The stream, folded event by event. */
async function* steps({ eventStore, codec }: DeliveryLog, websiteId: string): AsyncGenerator<Step, void> {
  let block: DeliveryBlock | null = null;
  for (let from = 0n; ;) {
    const { events, head } = await eventStore.readStream(deliveryStream(websiteId), { from, max: pageSize });
    for (const stored of events) {
      const event = codec.decode(stored) as Recorded<DeliveryEvent>;
      const before: DeliveryBlock | null = block;
      block = blockAfter(before, event);
      yield { event, before, after: block };
      from = event.revision + 1n;
    }
    if (events.length === 0 || from > head) return;
  }
}
