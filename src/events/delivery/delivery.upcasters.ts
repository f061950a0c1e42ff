import type { Upcaster } from '../defineStream.js';

// Checkpoints of version 2 may have `neededFromClient`; those of version 1 have none.
const withoutNeeds: Upcaster = (data) => data;

export const deliveryUpcasters = {
  DeliverySetUp: [withoutNeeds],
  DeliveryReplaced: [withoutNeeds],
  DeliveryUndone: [withoutNeeds],
} satisfies Record<string, readonly Upcaster[]>;
