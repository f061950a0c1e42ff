/**
 * Dates as people type them: `22 Dec`, `22 December 2026`, `2026-12-22`, `in 30 days`, `+2w`.
 */
import { UsageError } from './command.js';
import { dayClock, type Clock } from './views/words.js';

const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const dayMs = 24 * 3_600_000;

/** Which of the days that a text without a year may mean: a deadline is ahead, a change is past. */
export type Direction = 'future' | 'past';

/** A text that is no date. Its message says how one is written. */
class NoDate extends UsageError {
  constructor(text: string) {
    super(`"${text}" is not a date. Write it like "22 Dec", "2026-12-22", "in 30 days" or "+2w"`);
  }
}

/** The day at 12:00 UTC: it is the same day nearly everywhere. Undefined when there is no such day. */
const noon = (year: number, month: number, day: number): number | undefined => {
  const at = Date.UTC(year, month, day, 12);
  const date = new Date(at);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? at : undefined;
};

/** In ISO 8601, of this machine's time zone when it names none. Undefined when there is no such time. */
const isoTime = (text: string): number | undefined => {
  const [, day] = /^(\d{4}-\d\d-\d\d)[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?$/i.exec(text) ?? [];
  // `Date` alone takes "1 Dec 10:00" for a time in 2001, and 30 February for 2 March.
  const isThere = day !== undefined && new Date(`${day}T00:00Z`).getUTCDate() === Number(day.slice(-2));
  const at = isThere ? Date.parse(text.toUpperCase().replace(' ', 'T')) : NaN;
  return Number.isNaN(at) ? undefined : at;
};

const today = (now: number): number => Math.floor(now / dayMs) * dayMs + dayMs / 2;

const indexOf = (names: readonly string[], text: string): number =>
  text.length < 3 ? -1 : names.findIndex((name) => name.startsWith(text) || (text === 'sept' && name === 'september'));

/** The days of a month are at most those of the month that the sum falls in: 31 January + 1 month. */
const addMonths = (at: number, amount: number): number => {
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + amount);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
};

const shifted = (now: number, amount: number, unit: string): number => {
  const from = today(now);
  if (unit.startsWith('d')) return from + amount * dayMs;
  if (unit.startsWith('w')) return from + amount * 7 * dayMs;
  return addMonths(from, unit.startsWith('y') ? amount * 12 : amount);
};

/** `a week` is one. */
const amountOf = (text = ''): number => (text.startsWith('a') ? 1 : Number(text));

const dayOfYear = (text: string, month: string, day: string, year: string | undefined, now: number, direction: Direction) => {
  const index = indexOf(months, month);
  if (index === -1) throw new NoDate(text);
  if (year !== undefined) return noon(Number(year), index, Number(day));
  const thisYear = new Date(now).getUTCFullYear();
  // The next 29 February can be eight years ahead.
  const years = Array.from({ length: 9 }, (_, step) => thisYear + (direction === 'future' ? step : -step));
  const fits = (at: number): boolean => (direction === 'future' ? at >= today(now) : at <= today(now));
  return years.map((one) => noon(one, index, Number(day))).find((at) => at !== undefined && fits(at));
};

const read = (given: string, now: number, direction: Direction): number | undefined => {
  const text = given.trim().toLowerCase().replaceAll(',', ' ').replaceAll(/\s+/g, ' ');
  if (text === 'now') return now;
  if (text === 'today') return today(now);
  if (text === 'tomorrow') return today(now) + dayMs;
  if (text === 'yesterday') return today(now) - dayMs;

  const isoDay = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (isoDay) return noon(Number(isoDay[1]), Number(isoDay[2]) - 1, Number(isoDay[3]));
  if (/^\S+(z|[+-]\d\d:?\d\d)$/.test(text)) return isoTime(text);

  const unit = '(d|days?|w|weeks?|m|months?|y|years?)';
  const signed = new RegExp(`^([+-])(\\d{1,4}) ?${unit}$`).exec(text);
  if (signed) return shifted(now, Number(signed.slice(1, 3).join('')), signed[3] ?? '');
  const ahead = new RegExp(`^in (an?|\\d{1,4}) ${unit}$`).exec(text);
  if (ahead) return shifted(now, amountOf(ahead[1]), ahead[2] ?? '');
  const ago = new RegExp(`^(an?|\\d{1,4}) ${unit} ago$`).exec(text);
  if (ago) return shifted(now, -amountOf(ago[1]), ago[2] ?? '');

  const [, which, weekday = ''] = /^(?:(on|next|last) )?([a-z]+)$/.exec(text) ?? [];
  const index = indexOf(weekdays, weekday);
  if (index !== -1) {
    const days = (index - new Date(now).getUTCDay() + 7) % 7 || 7;
    const isAhead = which === 'next' || (which !== 'last' && direction === 'future');
    return today(now) + (isAhead ? days : days === 7 ? -7 : days - 7) * dayMs;
  }

  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]+)\.?(?: (\d{4}))?$/.exec(text);
  if (dayFirst) return dayOfYear(given, dayFirst[2] ?? '', dayFirst[1] ?? '', dayFirst[3], now, direction);
  const monthFirst = /^([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$/.exec(text);
  if (monthFirst) return dayOfYear(given, monthFirst[1] ?? '', monthFirst[2] ?? '', monthFirst[3], now, direction);
  return undefined;
};

/** Whether a text that `readDate` reads means a whole day, rather than a time of one. */
export const isDay = (text: string): boolean => !/\dT\d|^\s*now\s*$/i.test(text);

/**
 * The time that the text means, in ISO 8601 UTC. A day is its 12:00 UTC, and today is the day in UTC, by which the
 * service counts.
 * @param now in ms since 1970
 * @throws NoDate
 */
export const readDate = (text: string, now: number, direction: Direction): string => {
  const at = read(text, now, direction);
  if (at === undefined || Number.isNaN(at) || Math.abs(at) > 8.64e15) throw new NoDate(text);
  return new Date(at).toISOString();
};

/**
 * As `readDate`, but today is the day that it is here: in an evening in New York it is tomorrow in UTC.
 * @throws NoDate
 */
export const readOwnDate = (text: string, clock: Clock, direction: Direction): string =>
  readDate(text, isDay(text) ? dayClock(clock).now : clock.now, direction);

/**
 * A time of a day, in ISO 8601 UTC.
 * @throws UsageError
 */
export const readTime = (text: string): string => {
  const at = isoTime(text.trim());
  if (at === undefined) {
    throw new UsageError(`"${text}" is not a time. Write it like 2026-12-01T10:00, in your time zone, or with a zone`);
  }
  return new Date(at).toISOString();
};
