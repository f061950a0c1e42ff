import type { Engine } from '../../engine.js';
import { deliveryFold } from '../../events/delivery/delivery.state.js';
import type { ReceiptEvent } from '../../events/receipt/receipt.events.js';
import { earlierReceiptFold, type ReceiptState } from '../../events/receipt/receipt.state.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import type { RecordLook } from './receipt.commands.js';
import { receiptDecider } from './receipt.decider.js';

/** @throws Refused: not set up, `Invalid request body — revision: …` */
export const recordLook = async (
  engine: Engine,
  input: Omit<RecordLook, 'type' | 'at' | 'current' | 'earlier'>,
  context: CommandContext,
): Promise<Handled<ReceiptState, ReceiptEvent>> => {
  const [{ state, revision }, earlier] = await Promise.all([
    engine.state(deliveryFold, input),
    engine.state(earlierReceiptFold, input),
  ]);
  const current = state.stage === 'setUp' ? Number(revision) : null;
  return engine.handle(
    receiptDecider,
    { type: 'RecordLook', ...input, earlier: earlier.state.get(input.readerId), current },
    context,
  );
};
