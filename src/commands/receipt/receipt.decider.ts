import type { ReceiptEvent } from '../../events/receipt/receipt.events.js';
import { lastLook } from '../../events/receipt/receipt.looks.js';
import { receiptFold, type ReceiptState } from '../../events/receipt/receipt.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { RecordLook } from './receipt.commands.js';

/** In between, a person's looks at what they have seen already add nothing, so that the log stays small. */
const intervalMs = 60_000;

const recordLook = (command: RecordLook, state: ReceiptState): readonly ReceiptEvent[] | Refusal => {
  const { websiteId, readerId, clientId, earlier, revision, current, at } = command;
  if (current === null) return refusals.deliveryNotSetUp(websiteId);
  if (revision > current) return refusals.invalidBody('revision', 'is not a change of this delivery block');
  const before = lastLook(earlier, state.looks);
  const isNew = before === undefined || revision > before.revision;
  if (!isNew && Date.parse(at) - Date.parse(before.lastAt) < intervalMs) return [];
  return [{ type: 'DeliveryRevisionSeen', data: { websiteId, readerId, ...(clientId !== undefined && { clientId }), revision } }];
};

export const receiptDecider: Decider<ReceiptState, RecordLook, ReceiptEvent> = { ...receiptFold, decide: recordLook };
