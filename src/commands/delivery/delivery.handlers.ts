import type { Engine } from '../../engine.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import { deliveryBefore } from '../../events/delivery/delivery.history.js';
import { deliveryDecider } from './delivery.decider.js';
import type { CommandContext, Handled, HandleOptions } from '../handleCommand.js';
import type { DeliveryState } from '../../events/delivery/delivery.state.js';

/**
 * Restores the block as it was before the change at `revision`.
 * @throws Refused: not set up, `Invalid request body — revision: …`, `Someone else saved …`
 */
export const undoDeliveryChange = async (
  engine: Engine,
  websiteId: string,
  revision: number,
  context: CommandContext,
  options?: HandleOptions,
): Promise<Handled<DeliveryState, DeliveryEvent>> => {
  const before = await deliveryBefore(engine, websiteId, revision);
  return engine.handle(deliveryDecider, { type: 'UndoDeliveryChange', websiteId, revision, before }, context, options);
};
