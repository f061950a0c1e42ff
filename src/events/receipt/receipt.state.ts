import { withEntry, type StreamFold } from '../fold.js';
import type { ReceiptEvent } from './receipt.events.js';
import { looksAfter, type Looks } from './receipt.looks.js';
import { receiptStream, type ReceiptKey } from './receipt.stream.js';

/** What each person saw, by the id of the reader. */
export type ReceiptState = ReadonlyMap<string, Looks>;

export const receiptFold: StreamFold<ReceiptState, ReceiptEvent, ReceiptKey> = {
  name: 'receipt',
  snapshotVersion: 1,
  stream: receiptStream,
  initialState: new Map(),
  evolve: (state, { data: { readerId, revision }, metadata: { at } }) =>
    withEntry(state, readerId, looksAfter(state.get(readerId), revision, at)),
};
