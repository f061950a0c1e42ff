import type { Engine } from '../../engine.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import { deliveryBefore } from '../../events/delivery/delivery.history.js';
import { type ReplaceDelivery, type SetCheckpointStatus } from './delivery.commands.js';
import { deliveryDecider } from './delivery.decider.js';
import type { CommandContext, Handled, HandleOptions } from '../handleCommand.js';
import type { DeliveryState } from '../../events/delivery/delivery.state.js';

type Handling = Promise<Handled<DeliveryState, DeliveryEvent>>;

/** @throws Refused: `Invalid request body — …`, `Someone else saved …` */
export const replaceDelivery = (
  engine: Engine,
  input: Omit<ReplaceDelivery, 'type' | 'at'>,
  context: CommandContext,
  options?: HandleOptions,
): Handling => engine.handle(deliveryDecider, { type: 'ReplaceDelivery', ...input }, context, options);

/** @throws Refused: not set up, `Checkpoint <id> not found`, `Someone else saved …` */
export const setCheckpointStatus = (
  engine: Engine,
  input: Omit<SetCheckpointStatus, 'type' | 'at'>,
  context: CommandContext,
  options?: HandleOptions,
): Handling => engine.handle(deliveryDecider, { type: 'SetCheckpointStatus', ...input }, context, options);

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
): Handling => {
  const before = await deliveryBefore(engine, websiteId, revision);
  return engine.handle(deliveryDecider, { type: 'UndoDeliveryChange', websiteId, revision, before }, context, options);
};
