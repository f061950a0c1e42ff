import type { InvoicePlace, InvoiceSort } from '../../../integrations/payments/port.js';
import { notACursor, placeIn, toCursor } from '../../paging.js';

/** The cursor of the page that begins after a place. */
export const invoiceCursor = (sort: InvoiceSort, { time, id }: InvoicePlace): string => toCursor(`${sort}.${String(time)}.${id}`);

/** @throws Refused when the cursor is not one of ours, or of the list in another order */
export const invoicePlaceIn = (sort: InvoiceSort, cursor: string): InvoicePlace => {
  const [, order, time, id] = /^(-?\w+)\.(-?\d{1,15})\.([\w-]+)$/.exec(placeIn(cursor)) ?? [];
  if (order !== sort || time === undefined || id === undefined) throw notACursor();
  return { time: Number(time), id };
};
