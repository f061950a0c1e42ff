import { describe, expect, test } from '@jest/globals';
import { bookingDecider, keptSince } from '../../src/commands/booking/booking.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { BookingEvent } from '../../src/events/booking/booking.events.js';
import { expectRepeatable, given as givenEvents } from '../support/given.js';

const ofBooking = { websiteId: 'w1', bookingId: 'b1' };
const times = { start: '2026-02-01T09:00:00.000Z', end: '2026-02-01T09:30:00.000Z' };
const add = { type: 'AddBooking', ...ofBooking, title: 'Tasting', ...times, kept: 0 } as const;
const added: BookingEvent = { type: 'BookingAdded', data: { ...ofBooking, title: 'Tasting', ...times } };
const cancel = { type: 'CancelBooking', ...ofBooking } as const;
const cancelled: BookingEvent = { type: 'BookingCancelled', data: ofBooking };

const given = (events: readonly BookingEvent[] = []) => givenEvents(bookingDecider, events);

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

  test('may be of long ago', () => {
    const past = { start: '2020-01-01T09:00:00.000Z', end: '2020-01-01T10:00:00.000Z' };
    given()
      .when({ ...add, ...past })
      .then([{ type: 'BookingAdded', data: { ...added.data, ...past } }]);
  });

  test('starts in 1970 at the earliest', () => {
    const end = '1970-01-01T01:00:00.000Z';
    given()
      .when({ ...add, start: '1970-01-01T00:00:00.000Z', end })
      .then([{ type: 'BookingAdded', data: { ...added.data, start: '1970-01-01T00:00:00.000Z', end } }]);
    given()
      .when({ ...add, start: '1969-12-31T23:59:59.999Z', end })
      .thenRefused(refusals.invalidBody('start', 'must be in 1970 or later'));
  });

  test('has room among two thousand', () => {
    given()
      .when({ ...add, kept: 1_999 })
      .then([added]);
    given()
      .when({ ...add, kept: 2_000 })
      .thenRefused(refusals.calendarFull());
  });

  test('counts for 400 days after its start', () => {
    expect(keptSince('2027-03-08T09:00:00.000Z')).toBe(times.start);
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
    expectRepeatable(bookingDecider, [...events], command);
  });
});
