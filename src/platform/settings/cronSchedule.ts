import { Problem } from './values.js';

/**
 * The five fields of a schedule: their ranges, and the names that stand for numbers, beginning at
 * `from`.
 */
const cronFields = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { from: 0, to: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/** The most days that each month has. */
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The numbers that a list of numbers and ranges stands for: `*`, `1,15`, `mon-fri`, `8-18/2`; null
 * when it is none. A single number has no step: node-cron would throw when it is first used.
 */
const numbersOf = (text: string, { from, to, names }: (typeof cronFields)[number]): readonly number[] | null => {
  const numbers: number[] = [];
  for (const part of text.split(',')) {
    const [, range = '', step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const bounds = range === '*' ? [from, to] : range.split('-').map((bound) => numberOf(bound, names, from));
    const [first = Number.NaN, last = first] = bounds;
    const isInside = first >= from && last <= to && first <= last && bounds.length <= 2;
    const mayStep = step === undefined || (Number(step) >= 1 && bounds.length === 2);
    if (!isInside || !mayStep) return null;
    for (let number = first; number <= last; number += Number(step ?? 1)) numbers.push(number);
  }
  return numbers;
};

const numberOf = (text: string, names: readonly string[], from: number): number => {
  const place = names.indexOf(text.toLowerCase());
  return place === -1 ? Number(/^\d{1,2}$/.exec(text)?.[0] ?? Number.NaN) : place + from;
};

export const cronSchedule = (text: string): string | Problem => {
  const given = text.split(/\s+/);
  const [minutes, hours, days, months, weekdays] = cronFields.map((field, place) => numbersOf(given[place] ?? '', field));
  if (!minutes || !hours || !days || !months || !weekdays || given.length !== cronFields.length) {
    return new Problem('must be minute, hour, day, month and weekday, as in 0 4 * * 1 (Mondays at four)');
  }
  const isEverDue = months.some((month) => Math.min(...days) <= (daysOfMonths[month - 1] ?? 0));
  return isEverDue ? given.join(' ') : new Problem('must be due on some day: none of its months has one of its days');
};
