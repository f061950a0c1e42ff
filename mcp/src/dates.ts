import { z } from 'zod';

const day = z.iso.date();
const instant = z.iso.datetime({ offset: true });

/** A day, which means 12:00 UTC of it, or a timestamp. Becomes ISO 8601 UTC. */
export const DateInput = z
  .string()
  .max(40)
  // The rules of dates are not in the schema that assistants read: as a pattern they are long.
  .transform((text, context) => {
    if (day.safeParse(text).success) return `${text}T12:00:00.000Z`;
    if (instant.safeParse(text).success) return new Date(text).toISOString();
    context.addIssue('must be a day such as 2026-03-01, or an ISO 8601 timestamp');
    return z.NEVER;
  })
  .describe('Day or timestamp');

/** The day of a timestamp, in UTC: 2026-12-22. */
export const dayOf = (timestamp: string): string => timestamp.slice(0, 10);

/** Whether an ETA or a deadline has passed, by its hour, as the service counts. */
export const isPast = (timestamp: string, now: Date): boolean => Date.parse(timestamp) < now.getTime();

/** `1 day`, `2 days`. */
export const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `in 30 days`, `today`, `3 days ago`. */
export const distance = (timestamp: string, now: Date): string => {
  const days = Math.round((Date.parse(dayOf(timestamp)) - Date.parse(dayOf(now.toISOString()))) / 86_400_000);
  if (days === 0) return 'today';
  const count = counted(Math.abs(days), 'day');
  return days > 0 ? `in ${count}` : `${count} ago`;
};
