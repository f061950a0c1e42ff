/**
 * How the CLI words times, days, sizes and money.
 */
import { moneyText } from '@doorstep/sdk';

const dayMs = 24 * 3_600_000;

/** Days and times as on this machine, but for tests. */
export interface Clock {
  readonly now: number;
  /** IANA name. Default: the machine's. */
  readonly timeZone?: string;
}

const format = (at: number, { timeZone }: Clock, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone !== undefined && { timeZone }) }).format(at);

/** As `2026-12-22`: days compare and subtract by it. */
const dayOf = (at: number, clock: Clock): string => {
  const parts = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...(clock.timeZone !== undefined && { timeZone: clock.timeZone }),
  });
  return parts.format(at);
};

/**
 * For what is a day, the same for everybody (the ETA, `dueAt`): its UTC day, and today as it is here. The hour of a
 * day is 12:00 UTC, which is on the next day in New Zealand.
 */
export const dayClock = (clock: Clock): Clock => ({ now: Date.parse(`${dayOf(clock.now, clock)}T12:00:00Z`), timeZone: 'UTC' });

/** The year is named only where it is another one than this. */
const yearIf = (at: number, clock: Clock): Intl.DateTimeFormatOptions =>
  dayOf(at, clock).slice(0, 4) === dayOf(clock.now, clock).slice(0, 4) ? {} : { year: 'numeric' };

/** `22 December`, in another year `22 December 2027`. */
export const longDay = (time: string, clock: Clock): string => {
  const at = Date.parse(time);
  return format(at, clock, { day: 'numeric', month: 'long', ...yearIf(at, clock) });
};

// The English of Node calls one month by four letters.
const shortMonths = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `3 Nov`, in another year `3 Nov 2027`. */
export const shortDay = (time: string, clock: Clock): string => {
  const at = Date.parse(time);
  const [year = '', month = '', day = ''] = dayOf(at, clock).split('-');
  const text = `${Number(day)} ${shortMonths[Number(month) - 1] ?? month}`;
  return 'year' in yearIf(at, clock) ? `${text} ${year}` : text;
};

/** `3 Nov, 14:05`. */
export const shortTime = (time: string, clock: Clock): string =>
  `${shortDay(time, clock)}, ${format(Date.parse(time), clock, { hour: '2-digit', minute: '2-digit' })}`;

/** `Tuesday 22 December 2026`: what was understood of a date that somebody typed. */
export const fullDay = (time: string, clock: Clock): string =>
  format(Date.parse(time), clock, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).replace(',', '');

/** How many days from today on; negative in the past. */
export const daysUntil = (time: string, clock: Clock): number =>
  Math.round((Date.parse(dayOf(Date.parse(time), clock)) - Date.parse(dayOf(clock.now, clock))) / dayMs);

/** `today`, `tomorrow`, `in 30 days`, `3 days ago`. */
export const fromNow = (time: string, clock: Clock): string =>
  new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(daysUntil(time, clock), 'day');

/** `0.4 s`, `1 min 5 s`. */
export const duration = (ms: number): string => {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** `812 B`, `14.2 kB`, `3.1 MB`. */
export const size = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit] ?? ''}`;
};

/** `€49.00`. @param amount in the currency's smallest unit */
export const money = (amount: number, currency: string): string => moneyText(amount, currency, 'en');

/** `1 thing`, `2 things`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

/** `in_progress` → `in progress`. */
export const spaced = (name: string): string => name.replaceAll('_', ' ');

/** `DeliveryCheckpointStatusSet` → `Delivery checkpoint status set`, `APIKeyMinted` → `API key minted`. */
export const sentence = (name: string): string => {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .replaceAll(/\b[A-Z](?![A-Z])\w*/g, (word) => word.toLowerCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
};
