import type { ReactNode } from 'react';
import { locale } from '../i18n/locale.js';
import classes from './dates.module.css';

/** The reader's zone, as in `Europe/Berlin`. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * What a time is: a moment, shown in the reader's zone; or a day, which is the same day for everybody
 * (`dueAt`, by its UTC day).
 */
export type TimeKind = 'moment' | 'day';

const zoneOf = (kind: TimeKind): string => (kind === 'day' ? 'UTC' : timeZone);

const format = (time: string, kind: TimeKind, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(locale(), { ...options, timeZone: zoneOf(kind) }).format(new Date(time));

/** A calendar day, as in 2026-12-22, of a time as it is shown. `Intl` writes no zeros before a year. */
export const calendarDay = (time: string | Date, kind: TimeKind): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zoneOf(kind) }).format(new Date(time)).padStart(10, '0');

/** "22 December", with the year when it is not this one. */
export const dayText = (time: string, kind: TimeKind, now: Date = new Date()): string => {
  const isThisYear = calendarDay(time, kind).slice(0, 4) === calendarDay(now, 'moment').slice(0, 4);
  return format(time, kind, { day: 'numeric', month: 'long', ...(!isThisYear && { year: 'numeric' }) });
};

/** The exact time with its zone; of a day, the whole date. */
const exactText = (time: string, kind: TimeKind): string =>
  kind === 'day'
    ? format(time, kind, { dateStyle: 'full' })
    : format(time, kind, {
        day: 'numeric',
        month: 'long',
        year: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        timeZoneName: 'short',
      });

/** "22 December, 14:02". */
export const momentText = (time: string): string =>
  `${dayText(time, 'moment')}, ${format(time, 'moment', { hour: '2-digit', minute: '2-digit' })}`;

/** Whether a moment has come, at that very millisecond too, as the service counts. */
export const isPast = (time: string, now: Date = new Date()): boolean => Date.parse(time) <= now.getTime();

/** How many days from today on a day is, as calendars count; negative in the past. */
export const daysUntil = (time: string, kind: TimeKind, now: Date = new Date()): number =>
  (Date.parse(calendarDay(time, kind)) - Date.parse(calendarDay(now, 'moment'))) / 86_400_000;

/** "in 30 days", "today", "4 days ago". */
export const relativeText = (time: string, kind: TimeKind): string =>
  new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(daysUntil(time, kind), 'day');

interface TimeProps {
  readonly at: string;
  readonly kind: TimeKind;
  /** Default: the day. */
  readonly children?: ReactNode;
  readonly className?: string;
}

/** A date; the exact time shows on hover and focus. */
export const Time = ({ at, kind, children, className }: TimeProps): ReactNode => (
  <time dateTime={at} className={`${classes['time'] ?? ''} ${className ?? ''}`} tabIndex={0}>
    {children ?? dayText(at, kind)}
    <span className={classes['exact']}>{exactText(at, kind)}</span>
  </time>
);

/** What a picked day is sent as: 12:00 UTC, so that it is the same day in nearly every zone. */
export const atNoonUtc = (day: string): string => `${day}T12:00:00.000Z`;
