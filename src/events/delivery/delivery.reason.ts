import type { DeliveryEvent } from './delivery.events.js';

/** Why a delivery block was changed, and whether clients may read that; empty where it was not said. */
export interface DeliveryReason {
  readonly reason?: string;
  readonly reasonVisible?: boolean;
}

export const reasonOf = (event: DeliveryEvent): DeliveryReason => {
  const { reason, reasonVisible }: DeliveryReason =
    event.type === 'DeliverySetUp' || event.type === 'DeliveryReplaced' ? event.data : {};
  return { ...(reason !== undefined && { reason }), ...(reasonVisible !== undefined && { reasonVisible }) };
};
