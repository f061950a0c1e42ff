import type { Recorded } from '../envelope.js';
import { withItems, type StreamFold } from '../fold.js';
import { blockAfter, type DeliveryBlock } from './delivery.block.js';
import type { DeliveryEvent } from './delivery.events.js';
import { visibleChange } from './delivery.steps.js';
import { deliveryStream } from './delivery.stream.js';

/** The block as it was at a revision. */
export interface KeptBlock {
  readonly revision: bigint;
  /** When it came to that revision, ISO 8601 UTC. */
  readonly at: string;
  readonly block: DeliveryBlock | null;
  /** How many changes up to that revision clients may see. */
  readonly visible: number;
}

/** The blocks of a long history that others are found from, without reading it from its beginning. */
export interface KeptBlocks {
  /** One for each 100 revisions, the oldest first. */
  readonly kept: readonly KeptBlock[];
  /** After the last event. */
  readonly block: DeliveryBlock | null;
  /** How many changes clients may see. */
  readonly visible: number;
}

/** Events between the blocks that are kept. */
export const keptInterval = 100;

const evolve = ({ kept, block: before, visible: earlier }: KeptBlocks, event: Recorded<DeliveryEvent>): KeptBlocks => {
  const { revision } = event;
  const block = blockAfter(before, event);
  const visible = earlier + (visibleChange({ event, before, after: block }) === null ? 0 : 1);
  const isKept = (revision + 1n) % BigInt(keptInterval) === 0n;
  return { kept: isKept ? withItems(kept, { revision, at: event.metadata.at, block, visible }) : kept, block, visible };
};

export const keptBlocksFold: StreamFold<KeptBlocks, DeliveryEvent, { readonly websiteId: string }> = {
  name: 'delivery-blocks',
  snapshotVersion: 2,
  stream: deliveryStream,
  initialState: { kept: [], block: null, visible: 0 },
  evolve,
};
