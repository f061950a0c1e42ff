import { embedded } from '../embeddedFiles.js';
import type { Booking, BookingsQuery, Scheduling } from './port.js';

/**
 * The embedded calendar, whose bookings admins enter. Attendees are not recorded.
 * @param list returns a part of a website's bookings, ordered by start
 */
export const createEmbeddedCalendar = (
  list: (websiteId: string, query: Omit<BookingsQuery, 'site'>) => Promise<readonly Omit<Booking, 'attendees'>[]>,
): Scheduling => ({
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
});
