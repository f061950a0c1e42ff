import { embedded } from '../embeddedFiles.js';
import type { Booking, Scheduling } from './port.js';

/**
 * A calendar of our own: what admins write into it.
 * @param bookingsOf all bookings of a website, by when they start
 */
export const createEmbeddedCalendar = (bookingsOf: (websiteId: string) => Promise<readonly Booking[]>): Scheduling => ({
  provider: embedded,
  bookings: async ({ site, from, to, skip, limit }) => {
    const bookings = await bookingsOf(site.websiteId);
    return bookings.filter(({ start, end }) => start >= from && (to === undefined || end <= to)).slice(skip, skip + limit);
  },
});
