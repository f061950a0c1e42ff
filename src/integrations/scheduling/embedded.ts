import { embedded } from '../embeddedFiles.js';
import type { Booking, BookingsFilter, BookingsQuery, Scheduling } from './port.js';

/** What a website's calendar is read with. */
export interface CalendarReads {
  /** A part of a website's bookings, ordered by start. */
  readonly list: (websiteId: string, query: Omit<BookingsQuery, 'site'>) => Promise<readonly Omit<Booking, 'attendees'>[]>;
  readonly count: (websiteId: string, filter: Omit<BookingsFilter, 'site'>) => Promise<number>;
}

/** The embedded calendar, whose bookings admins enter. Attendees are not recorded. */
export const createEmbeddedCalendar = ({ list, count }: CalendarReads): Scheduling => ({
  provider: embedded,
  bookings: async ({ site, ...query }) =>
    (await list(site.websiteId, query)).map(({ id, title, status, start, end, location }) => ({
      id,
      title,
      status,
      start,
      end,
      ...(location !== undefined && { location }),
      attendees: [],
    })),
  count: ({ site, ...filter }) => count(site.websiteId, filter),
});
