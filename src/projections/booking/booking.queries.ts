import type { Reader } from '../reader.js';
import { calendarProjection, type CalendarBooking } from './booking.projection.js';

/** All bookings of a website's embedded calendar as of now, by when they start. Who comes is not known. */
export const calendarBookings = async (
  reader: Pick<Reader, 'read'>,
  websiteId: string,
): Promise<readonly (CalendarBooking & { readonly attendees: readonly [] })[]> => {
  const { document } = await reader.read(calendarProjection, websiteId);
  return (document?.bookings ?? []).map((booking) => ({ ...booking, attendees: [] }));
};
