import { blockAfter, type DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import type { Projection } from '../projection.js';
import { deliveryStream } from '../../events/delivery/delivery.stream.js';

/** The delivery block of each website, by the website's id. */
export const deliveryProjection: Projection<DeliveryBlock, DeliveryEvent> = {
  name: 'delivery',
  version: 1,
  handles: ['DeliverySetUp', 'DeliveryReplaced', 'DeliveryCheckpointStatusSet', 'DeliveryUndone'],
  ignores: [],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => deliveryStream.name({ websiteId }),
  evolve: blockAfter,
  indexes: [],
};
