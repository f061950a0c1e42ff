import { UsageError } from '../command.js';
import { isDay, readDate } from '../dates.js';

const dayMs = 24 * 60 * 60_000;
const units: Readonly<Record<string, number>> = { h: dayMs / 24, d: dayMs, w: 7 * dayMs };

/** The portal's preset. */
export const usualExpiry = '90d';

/**
 * When a token ends: `90d`, `12h`, `2w`, a day as people type it (its end, UTC), a time, or `never`.
 * @returns ISO 8601 UTC; undefined: never
 * @throws UsageError
 */
export const expiryFrom = (text: string, now: number): string | undefined => {
  if (text === 'never') return undefined;
  const [, count = '', unit = ''] = /^(\d+)([hdw])$/.exec(text) ?? [];
  const end = unit === '' ? endOf(text, now) : now + Number(count) * (units[unit] ?? 0);
  if (end === undefined || end > 8.64e15) {
    throw new UsageError(`"${text}" is no expiry: use 90d, 12h, 2w, a day such as "22 Dec" or 2030-01-31, or never`);
  }
  if (end <= now) throw new UsageError(`"${text}" is in the past`);
  return new Date(end).toISOString();
};

/** In ms since 1970; undefined: neither a day nor a time. */
const endOf = (text: string, now: number): number | undefined => {
  try {
    const time = readDate(text, now, 'future');
    return Date.parse(isDay(text) ? `${time.slice(0, 10)}T23:59:59.999Z` : time);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
};
