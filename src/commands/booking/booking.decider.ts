import type { BookingEvent } from '../../events/booking/booking.events.js';
import { bookingFold, type BookingState } from '../../events/booking/booking.state.js';
import { isoTime } from '../../platform/clock.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { AddBooking, BookingCommand } from './booking.commands.js';

/** Bookings of one website; those that began before `keptSince` do not count for a later one. */
const maxBookings = 2_000;

/** More than a year. */
const keptMs = 400 * 86_400_000;

/** Bookings that start before this time do not count for a later one. ISO 8601 UTC, as `at`. */
export const keptSince = (at: string): string => isoTime(Date.parse(at) - keptMs);

const add = (command: AddBooking, { stage }: BookingState): readonly BookingEvent[] | Refusal => {
  // The id is derived from the command, so an existing booking was made by this same command.
  if (stage !== 'none') return [];
  const { websiteId, bookingId, title, start, end, location, kept } = command;
  // Ids begin with the time of the start, counted from then on, and lists go by them.
  if (start < isoTime(0)) return refusals.invalidBody('start', 'must be in 1970 or later');
  if (end <= start) return refusals.invalidBody('end', 'must be after start');
  if (kept >= maxBookings) return refusals.calendarFull();
  const data = { websiteId, bookingId, title, start, end, ...(location !== undefined && { location }) };
  return [{ type: 'BookingAdded', data }];
};

const decide = (command: BookingCommand, state: BookingState): readonly BookingEvent[] | Refusal => {
  switch (command.type) {
    case 'AddBooking':
      return add(command, state);
    case 'CancelBooking': {
      const { websiteId, bookingId } = command;
      if (state.stage === 'none') return refusals.bookingNotFound(bookingId);
      return state.stage === 'cancelled' ? [] : [{ type: 'BookingCancelled', data: { websiteId, bookingId } }];
    }
    default:
      return command satisfies never;
  }
};

export const bookingDecider: Decider<BookingState, BookingCommand, BookingEvent> = { ...bookingFold, decide };
