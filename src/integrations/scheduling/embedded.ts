import { embedded } from '../embeddedFiles.js';
import type { Booking, Scheduling } from './port.js';

/**
 * The embedded calendar, whose bookings admins enter.
 * @param bookingsOf returns all bookings of a website, ordered by start
 */
export const createEmbeddedCalendar = (bookingsOf: (websiteId: string) => Promise<readonly Booking[]>): Scheduling => ({
  provider: embedded,
  bookings: async ({ site, from, to, skip, limit }) => {
    const bookings = await bookingsOf(site.websiteId);
    return bookings.filter(({ start, end }) => start >= from && (to === undefined || end <= to)).slice(skip, skip + limit);
  },
});
