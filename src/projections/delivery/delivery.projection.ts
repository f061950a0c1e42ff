import { blockAfter, type DeliveryBlock } from '../../events/delivery/delivery.block.js';
import { deliveryEvents, type DeliveryEvent } from '../../events/delivery/delivery.events.js';
import { deliveryStream } from '../../events/delivery/delivery.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** One function folds events of every type, and the compiler has it know them all. */
const foldAll = Object.fromEntries(Object.keys(deliveryEvents).map((type) => [type, blockAfter])) as Record<
  DeliveryEvent['type'],
  typeof blockAfter
>;

/** The delivery block of each website, by the website's id. */
export const deliveryProjection: Projection<DeliveryBlock, DeliveryEvent> = defineProjection({
  name: 'delivery',
  version: 1,
  stream: deliveryStream,
  on: foldAll,
});
