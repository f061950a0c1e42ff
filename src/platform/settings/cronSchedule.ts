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

/** Lists of numbers and ranges with an optional step: `*`, `1,15`, `mon-fri`, `8-18/2`. */
const isCronField = (text: string, { from, to, names }: (typeof cronFields)[number]): boolean =>
  text.split(',').every((part) => {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const bounds = range === '*' ? [from, to] : range.split('-').map((bound) => numberOf(bound, names, from));
    const [first = Number.NaN, last = first] = bounds;
    return bounds.length <= 2 && first >= from && last <= to && first <= last && Number(step) >= 1;
  });

const numberOf = (text: string, names: readonly string[], from: number): number => {
  const place = names.indexOf(text.toLowerCase());
  return place === -1 ? Number(/^\d{1,2}$/.exec(text)?.[0] ?? Number.NaN) : place + from;
};

export const cronSchedule = (text: string): string | Problem => {
  const given = text.split(/\s+/);
  const isSchedule =
    given.length === cronFields.length && cronFields.every((field, place) => isCronField(given[place] ?? '', field));
  return isSchedule
    ? given.join(' ')
    : new Problem('must be minute, hour, day, month and weekday, as in 0 4 * * 1 (Mondays at four)');
};
