import type { Invoice, InvoicePlace, InvoiceSort } from './port.js';

export const isDescending = (sort: InvoiceSort): boolean => sort.startsWith('-');

/** Stands in place of a due date that there is none of: beyond all that there can be. */
export const undated = (sort: InvoiceSort): string =>
  isDescending(sort) ? '0000-01-01T00:00:00.000Z' : '9999-12-31T23:59:59.999Z';

export const placeOf = (sort: InvoiceSort, { id, createdAt, dueAt }: Invoice): InvoicePlace => ({
  time: Date.parse(sort.endsWith('createdAt') ? createdAt : (dueAt ?? undated(sort))),
  id,
});

/** Negative when `one` comes before `other`. */
export const comparePlaces = (sort: InvoiceSort, one: InvoicePlace, other: InvoicePlace): number => {
  const ascending = one.time - other.time || (one.id < other.id ? -1 : Number(one.id > other.id));
  return isDescending(sort) ? -ascending : ascending;
};
