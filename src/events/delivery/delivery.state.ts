import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import { blockAfter, type DeliveryBlock } from './delivery.block.js';
import type { DeliveryEvent } from './delivery.events.js';
import { reasonOf, type DeliveryReason } from './delivery.reason.js';
import { deliveryStream } from './delivery.stream.js';

export type DeliveryState =
  | { readonly stage: 'notSetUp' }
  | { readonly stage: 'setUp'; readonly block: DeliveryBlock; /** Of the last change. */ readonly why: DeliveryReason };

const initialState: DeliveryState = { stage: 'notSetUp' };

const evolve = (state: DeliveryState, event: Recorded<DeliveryEvent>): DeliveryState => {
  const block = blockAfter(state.stage === 'setUp' ? state.block : null, event);
  return block === null ? state : { stage: 'setUp', block, why: reasonOf(event) };
};

export const deliveryFold: StreamFold<DeliveryState, DeliveryEvent, { readonly websiteId: string }> = {
  name: 'delivery',
  snapshotVersion: 2,
  stream: deliveryStream,
  initialState,
  evolve,
};
