import { bookingEvents } from '../../src/events/booking/booking.events.js';
import { bookingProjection, type BookingDocument } from '../../src/projections/booking/booking.projection.js';
import { describeProjection } from '../support/projectionCases.js';

const booking: BookingDocument = {
  websiteId: 'w1',
  id: 'b1',
  title: 'Tasting',
  status: 'accepted',
  start: '2026-02-01T09:00:00.000Z',
  end: '2026-02-01T09:30:00.000Z',
};
const { id: bookingId, status: _, ...data } = booking;

describeProjection(bookingProjection, [bookingEvents], {
  BookingAdded: [
    { when: { bookingId, ...data }, then: booking },
    {
      shows: 'where it is',
      when: { bookingId, ...data, location: 'In the shop' },
      then: { ...booking, location: 'In the shop' },
    },
  ],
  BookingCancelled: [
    { given: booking, when: { websiteId: 'w1', bookingId }, then: null },
    { shows: 'that there is none', when: { websiteId: 'w1', bookingId }, then: null },
  ],
});
