import { isoTime } from './clock.js';

/** RFC 3339, 5.6, with the digits that a clock shows: no leap seconds, which no `Date` can hold. */
const form = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether `text` is an ISO 8601 time with its offset, of a day that there is, and in UTC of the years 0000 to 9999. */
export const isTime = (text: string): boolean => {
  const day = form.exec(text)?.[1];
  if (day === undefined) return false;
  const epochMs = Date.parse(text.toUpperCase());
  // A `Date` takes the 30th of February for the 2nd of March.
  return epochMs >= earliest && epochMs <= latest && isoTime(Date.parse(`${day}T00:00:00Z`)).startsWith(day);
};

/** The same time in the only form in which one is kept: UTC with milliseconds. `text` must be one that `isTime` takes. */
export const utcTime = (text: string): string => isoTime(Date.parse(text.toUpperCase()));
