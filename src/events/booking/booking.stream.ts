import { defineStream } from '../defineStream.js';
import { bookingEvents } from './booking.events.js';

export interface BookingKey {
  readonly websiteId: string;
  readonly bookingId: string;
}

/** Of the embedded calendar. */
export const bookingStream = defineStream({
  category: 'booking',
  key: ({ websiteId, bookingId }: BookingKey) => `${websiteId}-${bookingId}`,
  named: '<websiteId>-<bookingId>',
  holds: 'one booking of the embedded calendar',
  guards: 'cancelled once',
  events: bookingEvents,
  personal: {},
});
