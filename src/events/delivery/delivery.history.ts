import type { Actor } from '../envelope.js';
import { NO_STREAM } from '../store/eventStore.js';
import type { StreamReader } from '../streamReader.js';
import { blockAfter, type DeliveryBlock } from './delivery.block.js';
import { changesBetween, type DeliveryChange } from './delivery.changes.js';
import type { DeliveryEvent } from './delivery.events.js';
import { keptBlocksFold, keptInterval, type KeptBlock } from './delivery.keptBlocks.js';
import { reasonOf, type DeliveryReason } from './delivery.reason.js';
import type { DeliveryStep } from './delivery.steps.js';
import { deliveryStream } from './delivery.stream.js';

/** One change of a delivery block in its history. */
export interface DeliveryHistoryEntry extends DeliveryReason {
  readonly revision: bigint;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: Actor;
  readonly type: DeliveryEvent['type'];
  readonly changes: readonly DeliveryChange[];
  /** Of an undo: the revision of the change that it undid, and all after it. */
  readonly undid?: number;
  /** As the change left it. */
  readonly block: DeliveryBlock | null;
}

/** What these read: the event log alone. */
export type DeliveryLog = Pick<StreamReader, 'history'>;

/** As `DeliveryLog`, with what is kept of a long history, so that a part of it is read without the rest. */
export type KeptDeliveryLog = Pick<StreamReader, 'history' | 'state'>;

/** The block before its first event. */
export const beginning: KeptBlock = { revision: NO_STREAM, at: '', block: null, visible: 0 };

/**
 * The events of the block after one that is known, oldest first.
 * @param pageSize how many are read at once
 */
export async function* deliverySteps(
  log: DeliveryLog,
  websiteId: string,
  { revision, block }: Pick<KeptBlock, 'revision' | 'block'> = beginning,
  pageSize?: number,
): AsyncGenerator<DeliveryStep, void> {
  let before = block;
  const stream = { websiteId };
  for await (const event of log.history<DeliveryEvent, { websiteId: string }>(deliveryStream, stream, revision, pageSize)) {
    const after = blockAfter(before, event);
    yield { event, before, after };
    before = after;
  }
}

/** Every block that is kept, the oldest first. */
export const keptBlocks = async (log: KeptDeliveryLog, websiteId: string): Promise<readonly KeptBlock[]> =>
  (await log.state(keptBlocksFold, { websiteId })).state.kept;

const lastKept = async (log: KeptDeliveryLog, websiteId: string, isBefore: (block: KeptBlock) => boolean): Promise<KeptBlock> =>
  lastOf(await keptBlocks(log, websiteId), isBefore);

/** The last of the kept blocks of which `isBefore` is true, as it is of all earlier ones. */
export const lastOf = (kept: readonly KeptBlock[], isBefore: (block: KeptBlock) => boolean): KeptBlock => {
  let [from, to] = [0, kept.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const block = kept[middle];
    if (block !== undefined && isBefore(block)) from = middle + 1;
    else to = middle;
  }
  return kept[from - 1] ?? beginning;
};

/**
 * Every change of the block, oldest first, replayed from the log alone, up to a time (ISO 8601 UTC
 * with milliseconds) when there is one.
 */
export async function* deliveryHistory(
  log: DeliveryLog,
  websiteId: string,
  until?: string,
): AsyncGenerator<DeliveryHistoryEntry, void> {
  for await (const step of deliverySteps(log, websiteId)) {
    if (isAfter(step, until)) return;
    yield entryOf(step);
  }
}

/** Within a stream time never steps back. */
const isAfter = ({ event }: DeliveryStep, time: string | undefined): boolean => time !== undefined && event.metadata.at > time;

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
  log: KeptDeliveryLog,
  websiteId: string,
  { after, limit }: { after: bigint; limit: number },
): Promise<readonly DeliveryHistoryEntry[]> => {
  const start = await lastKept(log, websiteId, ({ revision }) => revision <= after);
  const page: DeliveryHistoryEntry[] = [];
  for await (const step of deliverySteps(log, websiteId, start, Number(after - start.revision) + limit)) {
    if (step.event.revision > after) page.push(entryOf(step));
    if (page.length === limit) break;
  }
  return page;
};

/**
 * The block as it was at a time (ISO 8601 UTC with milliseconds), with the revision of the last change
 * up to then; `null` when there was none.
 */
export const deliveryAt = async (
  log: KeptDeliveryLog,
  websiteId: string,
  at: string,
): Promise<{ readonly block: DeliveryBlock; readonly revision: bigint } | null> => {
  let { block, revision } = await lastKept(log, websiteId, (kept) => kept.at <= at);
  for await (const step of deliverySteps(log, websiteId, { block, revision }, keptInterval)) {
    if (isAfter(step, at)) break;
    block = step.after;
    revision = step.event.revision;
  }
  return block === null ? null : { block, revision };
};

/**
 * The block before the change that has `revision`; `null` when there is no such change, or no block
 * before it.
 */
export const deliveryBefore = async (
  log: KeptDeliveryLog,
  websiteId: string,
  revision: number,
): Promise<DeliveryBlock | null> => {
  const start = await lastKept(log, websiteId, (kept) => kept.revision < revision);
  for await (const { event, before } of deliverySteps(log, websiteId, start, keptInterval)) {
    if (event.revision === BigInt(revision)) return before;
  }
  return null;
};
