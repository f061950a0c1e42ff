import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const Time = Type.String({ format: 'date-time' });
const ofBooking = { websiteId: Type.String(), bookingId: Type.String() };

/**
 * Stream `booking-<websiteId>-<bookingId>`. Attendees are not recorded: names and addresses would
 * stand in the log for ever.
 */
export const bookingEvents = {
  BookingAdded: event(
    Type.Object({ ...ofBooking, title: Type.String(), start: Time, end: Time, location: Type.Optional(Type.String()) }),
  ),
  BookingCancelled: event(Type.Object(ofBooking)),
};

export type BookingEvent = EventOf<typeof bookingEvents>;
