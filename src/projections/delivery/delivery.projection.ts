import { blockAfter, type DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import { deliveryStream } from '../../events/delivery/delivery.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** The delivery block of each website, by the website's id. */
export const deliveryProjection: Projection<DeliveryBlock, DeliveryEvent> = defineProjection({
  name: 'delivery',
  version: 1,
  stream: deliveryStream,
  on: {
    DeliverySetUp: blockAfter,
    DeliveryReplaced: blockAfter,
    DeliveryCheckpointStatusSet: blockAfter,
    DeliveryUndone: blockAfter,
  },
});
