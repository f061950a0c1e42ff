import type { Upcaster } from '../defineStream.js';

export const billingUpcasters = {
  TransferLedgerDrawnUp: [
    // Version 1 held no price but the one that the offer named, by its id; version 2 holds what it is.
    (data) => data,
  ],
} satisfies Record<string, readonly Upcaster[]>;
