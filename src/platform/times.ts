import { isoTime } from './clock.js';

/** RFC 3339, 5.6, without leap seconds, which `Date` cannot hold. */
const timePattern = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Whether `text` is an ISO 8601 time with an offset, of an existing day, within the years 0000 to
 * 9999 in UTC.
 */
export const isTime = (text: string): boolean => {
  const day = timePattern.exec(text)?.[1];
  if (day === undefined) return false;
  const epochMs = Date.parse(text.toUpperCase());
  // `Date` accepts the 30th of February and reads it as the 2nd of March.
  return epochMs >= earliest && epochMs <= latest && isoTime(Date.parse(`${day}T00:00:00Z`)).startsWith(day);
};

/**
 * Whether what holds until `expiresAt` is over at `now`, both as `isoTime` writes them: it is at that
 * very millisecond. What has no end never expires.
 */
export const hasExpired = (expiresAt: string | undefined, now: string): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(now);

/** The same time as it is stored: UTC with milliseconds. `text` must pass `isTime`. */
export const utcTime = (text: string): string => isoTime(Date.parse(text.toUpperCase()));
