import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const Time = Type.String({ format: 'date-time' });
const ofBooking = { websiteId: Type.String(), bookingId: Type.String() };

/** Stream `calendar-<websiteId>`. Who comes is not said: names and addresses would stand in the log for ever. */
export const calendarEvents = {
  BookingAdded: event(
    Type.Object({ ...ofBooking, title: Type.String(), start: Time, end: Time, location: Type.Optional(Type.String()) }),
  ),
  BookingCancelled: event(Type.Object(ofBooking)),
};

export type CalendarEvent = EventOf<typeof calendarEvents>;

/** Bookings of a calendar. When there are so many, those that are long past make room. */
export const mostBookings = 2_000;

/** More than a year: nobody asks for what was before. */
const keptMs = 400 * 86_400_000;

/** Whether a booking that ends at `end` is still kept at `at`, ISO 8601 UTC both. */
export const isKept = (end: string, at: string): boolean => Date.parse(at) - Date.parse(end) < keptMs;
