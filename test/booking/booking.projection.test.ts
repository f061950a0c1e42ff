import { expect, test } from '@jest/globals';
import { calendarEvents, type CalendarEvent } from '../../src/events/booking/booking.events.js';
import {
  calendarProjection,
  type CalendarBooking,
  type CalendarDocument,
} from '../../src/projections/booking/booking.projection.js';
import { recorded } from '../support/given.js';
import { describeProjection } from '../support/projectionCases.js';

const booking: CalendarBooking = {
  id: 'b1',
  title: 'Tasting',
  status: 'accepted',
  start: '2026-02-01T09:00:00.000Z',
  end: '2026-02-01T09:30:00.000Z',
};
const earlier: CalendarBooking = { ...booking, id: 'b2', start: '2026-01-20T09:00:00.000Z', location: 'In the shop' };
const { id: _, status: __, ...data } = booking;

describeProjection(calendarProjection, [calendarEvents], {
  BookingAdded: [
    { when: { websiteId: 'w1', bookingId: 'b1', ...data }, then: { websiteId: 'w1', bookings: [booking] } },
    {
      shows: 'by when they start',
      given: { websiteId: 'w1', bookings: [booking] },
      when: { websiteId: 'w1', bookingId: 'b2', ...data, start: earlier.start, location: 'In the shop' },
      then: { websiteId: 'w1', bookings: [earlier, booking] },
    },
  ],
  BookingCancelled: [
    {
      given: { websiteId: 'w1', bookings: [earlier, booking] },
      when: { websiteId: 'w1', bookingId: 'b1' },
      then: { websiteId: 'w1', bookings: [earlier, { ...booking, status: 'cancelled' }] },
    },
    { shows: 'none is made', when: { websiteId: 'w1', bookingId: 'b1' }, then: { websiteId: 'w1', bookings: [] } },
  ],
});

test('bookings that are long past make room when there are many', () => {
  const document: CalendarDocument = {
    websiteId: 'w1',
    bookings: Array.from({ length: 2_000 }, (___, index) => ({ ...booking, id: `x${index}` })),
  };
  const event: CalendarEvent = {
    type: 'BookingAdded',
    data: { websiteId: 'w1', bookingId: 'b3', title: 'New', start: '2027-05-01T09:00:00.000Z', end: '2027-05-01T10:00:00.000Z' },
  };
  const after = calendarProjection.evolve(document, recorded(event, { at: '2027-04-01T00:00:00.000Z' }));
  expect(after?.bookings.map(({ id }) => id)).toStrictEqual(['b3']);
});
