import { withEntry, type StreamFold } from '../fold.js';
import type { ReceiptEvent } from './receipt.events.js';
import { looksAfter, type Looks } from './receipt.looks.js';
import { earlierReceiptStream, receiptStream, type ReceiptKey } from './receipt.stream.js';

/** What one person saw. */
export interface ReceiptState {
  /** Absent before the first look. */
  readonly looks?: Looks;
}

export const receiptFold: StreamFold<ReceiptState, ReceiptEvent, ReceiptKey> = {
  name: 'receipt',
  stream: receiptStream,
  initialState: {},
  evolve: ({ looks }, { data: { revision }, metadata: { at } }) => ({ looks: looksAfter(looks, revision, at) }),
};

/** What each person saw, by the id of the reader, before each had a stream. */
export const earlierReceiptFold: StreamFold<ReadonlyMap<string, Looks>, ReceiptEvent, Pick<ReceiptKey, 'websiteId'>> = {
  name: 'earlier-receipts',
  snapshotVersion: 1,
  stream: earlierReceiptStream,
  initialState: new Map(),
  evolve: (state, { data: { readerId, revision }, metadata: { at } }) =>
    withEntry(state, readerId, looksAfter(state.get(readerId), revision, at)),
};
