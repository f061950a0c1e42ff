import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';

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
