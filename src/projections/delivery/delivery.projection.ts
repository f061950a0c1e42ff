import { deliveryStream } from '../../commands/delivery/delivery.commands.js';
import { blockAfter, type DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import type { Projection } from '../projection.js';

/** The delivery block of each website, by the website's id. */
export const deliveryProjection: Projection<DeliveryBlock, DeliveryEvent> = {
  name: 'delivery',
  version: 1,
  handles: ['DeliverySetUp', 'DeliveryReplaced', 'DeliveryCheckpointStatusSet', 'DeliveryUndone'],
  ignores: [],
  documentId: ({ data }) => data.websiteId,
  stream: deliveryStream,
  evolve: blockAfter,
  indexes: [],
};
