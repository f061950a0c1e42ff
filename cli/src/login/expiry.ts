import { UsageError } from '../command.js';

const dayMs = 24 * 60 * 60_000;
const units: Readonly<Record<string, number>> = { h: dayMs / 24, d: dayMs, w: 7 * dayMs };

/** The portal's preset. */
export const usualExpiry = '90d';

/**
 * When a token ends: `90d`, `12h`, `2w`, a day (its end, UTC), a time, or `never`.
 * @returns ISO 8601 UTC; undefined: never
 * @throws UsageError
 */
export const expiryFrom = (text: string, now: number): string | undefined => {
  if (text === 'never') return undefined;
  const [, count = '', unit = ''] = /^(\d+)([hdw])$/.exec(text) ?? [];
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : text;
  const end = unit === '' ? Date.parse(day) : now + Number(count) * (units[unit] ?? 0);
  if (Number.isNaN(end) || end > 8.64e15) {
    throw new UsageError(`"${text}" is no expiry: use 90d, 12h, 2w, a day such as 2030-01-31, or never`);
  }
  if (end <= now) throw new UsageError(`"${text}" is in the past`);
  return new Date(end).toISOString();
};
