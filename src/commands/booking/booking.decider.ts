import { isKept, mostBookings, type CalendarEvent } from '../../events/booking/booking.events.js';
import type { CalendarCommand } from './booking.commands.js';
import type { Decider } from '../decider.js';
import { refusals } from '../refusal.js';
import { calendarStream } from '../../events/booking/booking.stream.js';

/** Stream `calendar-<websiteId>`: the bookings that are kept. */
export interface CalendarState {
  readonly bookings: ReadonlyMap<string, { readonly end: string; readonly isCancelled: boolean }>;
}

const keptOf = ({ bookings }: CalendarState, at: string) => [...bookings].filter(([, { end }]) => isKept(end, at));

export const calendarDecider: Decider<CalendarState, CalendarCommand, CalendarEvent> = {
  name: 'calendar',
  stream: calendarStream,
  initialState: { bookings: new Map() },
  evolve: ({ bookings }, { type, data, metadata: { at } }) => {
    const { bookingId } = data;
    if (type === 'BookingAdded') {
      const kept = bookings.size < mostBookings ? bookings : keptOf({ bookings }, at);
      return { bookings: new Map([...kept, [bookingId, { end: data.end, isCancelled: false }]]) };
    }
    const booking = bookings.get(bookingId);
    return booking === undefined
      ? { bookings }
      : { bookings: new Map(bookings).set(bookingId, { ...booking, isCancelled: true }) };
  },
  decide: (command, { bookings }) => {
    const { websiteId, bookingId, at } = command;
    const booking = bookings.get(bookingId);
    switch (command.type) {
      case 'AddBooking': {
        // The id is derived from the command, so an existing booking is this very command's.
        if (booking !== undefined) return [];
        const { title, start, end, location } = command;
        if (end <= start) return refusals.invalidBody('end', 'must be after start');
        if (!isKept(end, at)) return refusals.invalidBody('end', 'must not be more than a year ago');
        if (bookings.size >= mostBookings && keptOf({ bookings }, at).length >= mostBookings) return refusals.calendarFull();
        const data = { websiteId, bookingId, title, start, end, ...(location !== undefined && { location }) };
        return [{ type: 'BookingAdded', data }];
      }
      case 'CancelBooking':
        if (booking === undefined) return refusals.bookingNotFound(bookingId);
        return booking.isCancelled ? [] : [{ type: 'BookingCancelled', data: { websiteId, bookingId } }];
      default:
        return command satisfies never;
    }
  },
};
