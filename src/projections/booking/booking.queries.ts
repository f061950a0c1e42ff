import type { Engine } from '../../engine.js';
import { calendarProjection, type CalendarBooking } from './booking.projection.js';

/** All bookings of a website's embedded calendar as of now, by when they start. Who comes is not known. */
export const calendarBookings = async (
  engine: Pick<Engine, 'read'>,
  websiteId: string,
): Promise<readonly (CalendarBooking & { readonly attendees: readonly [] })[]> => {
  const { document } = await engine.read(calendarProjection, websiteId);
  return (document?.bookings ?? []).map((booking) => ({ ...booking, attendees: [] }));
};
