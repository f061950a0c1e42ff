import { describe, expect, test } from '@jest/globals';
import { calendarDecider } from '../../src/commands/booking/booking.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { CalendarEvent } from '../../src/events/booking/booking.events.js';
import { expectRepeatable, given as givenEvents, recorded } from '../support/given.js';

const ofBooking = { websiteId: 'w1', bookingId: 'b1' };
const times = { start: '2026-02-01T09:00:00.000Z', end: '2026-02-01T09:30:00.000Z' };
const add = { type: 'AddBooking', ...ofBooking, title: 'Tasting', ...times } as const;
const added: CalendarEvent = { type: 'BookingAdded', data: { ...ofBooking, title: 'Tasting', ...times } };
const cancel = { type: 'CancelBooking', ...ofBooking } as const;
const cancelled: CalendarEvent = { type: 'BookingCancelled', data: ofBooking };

const given = (events: readonly CalendarEvent[] = []) => givenEvents(calendarDecider, events);

describe('a booking', () => {
  test('is added', () => {
    given().when(add).then([added]);
    given()
      .when({ ...add, location: 'In the shop' })
      .then([{ type: 'BookingAdded', data: { ...ofBooking, title: 'Tasting', ...times, location: 'In the shop' } }]);
  });

  test('must end after it starts', () => {
    given()
      .when({ ...add, end: add.start })
      .thenRefused(refusals.invalidBody('end', 'must be after start'));
  });

  test('must not be long past', () => {
    given()
      .when({ ...add, start: '2024-01-01T09:00:00.000Z', end: '2024-01-01T10:00:00.000Z' })
      .thenRefused(refusals.invalidBody('end', 'must not be more than a year ago'));
  });

  test('has room among two thousand, of which those that are long past do not count', () => {
    const bookings = (end: string) =>
      Array.from({ length: 2_000 }, (_, index): CalendarEvent => ({
        type: 'BookingAdded',
        data: { websiteId: 'w1', bookingId: `x${index}`, title: 'x', start: end, end },
      }));
    given(bookings(times.end)).when(add).thenRefused(refusals.calendarFull());
    const past = bookings('2025-12-01T09:00:00.000Z').map((event, revision) => recorded(event, { revision }));
    const later = recorded(
      { ...added, data: { ...added.data, bookingId: 'b2' } },
      {
        revision: 2_000,
        at: '2027-06-01T00:00:00.000Z',
      },
    );
    const outcome = givenEvents(calendarDecider, [...past, later]).when({
      ...add,
      start: '2027-07-01T09:00:00.000Z',
      end: '2027-07-01T10:00:00.000Z',
      at: '2027-06-01T00:00:00.000Z',
    });
    expect(outcome.outcome).toHaveLength(1);
  });

  test('is cancelled, once', () => {
    given([added]).when(cancel).then([cancelled]);
    given([added, cancelled]).when(cancel).then([]);
  });

  test('that there is not cannot be cancelled', () => {
    given().when(cancel).thenRefused(refusals.bookingNotFound('b1'));
  });

  test.each([
    ['added', [], add],
    ['cancelled', [added], cancel],
  ] as const)('%s twice is the same', (_, events, command) => {
    expectRepeatable(calendarDecider, [...events], command);
  });
});
