import type { Engine } from '../../engine.js';
import { deliveryFold } from '../../events/delivery/delivery.state.js';
import type { ReceiptEvent } from '../../events/receipt/receipt.events.js';
import type { ReceiptState } from '../../events/receipt/receipt.state.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import type { RecordLook } from './receipt.commands.js';
import { receiptDecider } from './receipt.decider.js';

/** @throws Refused: not set up, `Invalid request body — revision: …` */
export const recordLook = async (
  engine: Engine,
  input: Omit<RecordLook, 'type' | 'at' | 'current'>,
  context: CommandContext,
): Promise<Handled<ReceiptState, ReceiptEvent>> => {
  const { state, revision } = await engine.state(deliveryFold, input);
  const current = state.stage === 'setUp' ? Number(revision) : null;
  return engine.handle(receiptDecider, { type: 'RecordLook', ...input, current }, context);
};
