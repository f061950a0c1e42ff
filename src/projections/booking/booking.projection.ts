import { isKept, mostBookings, type CalendarEvent } from '../../events/booking/booking.events.js';
import type { Projection } from '../projection.js';
import { calendarStream } from '../../events/booking/booking.stream.js';

/** The embedded calendar of a website, by when bookings start. */
export type CalendarDocument = {
  readonly websiteId: string;
  readonly bookings: readonly CalendarBooking[];
};

export type CalendarBooking = {
  readonly id: string;
  readonly title: string;
  readonly status: 'accepted' | 'cancelled';
  readonly start: string;
  readonly end: string;
  readonly location?: string;
};

const byStart = (one: CalendarBooking, other: CalendarBooking): number =>
  one.start === other.start ? (one.id < other.id ? -1 : 1) : one.start < other.start ? -1 : 1;

export const calendarProjection: Projection<CalendarDocument, CalendarEvent> = {
  name: 'calendar',
  version: 1,
  handles: ['BookingAdded', 'BookingCancelled'],
  ignores: [],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => calendarStream.name({ websiteId }),
  indexes: [],
  evolve: (document, event) => {
    const { websiteId, bookingId } = event.data;
    const bookings = document?.bookings ?? [];
    switch (event.type) {
      case 'BookingAdded': {
        const { title, start, end, location } = event.data;
        const booking: CalendarBooking = {
          id: bookingId,
          title,
          status: 'accepted',
          start,
          end,
          ...(location !== undefined && { location }),
        };
        const { at } = event.metadata;
        const kept = bookings.length < mostBookings ? bookings : bookings.filter((other) => isKept(other.end, at));
        return { websiteId, bookings: [...kept, booking].sort(byStart) };
      }
      case 'BookingCancelled':
        return {
          websiteId,
          bookings: bookings.map((booking) => (booking.id === bookingId ? { ...booking, status: 'cancelled' } : booking)),
        };
      default:
        return document;
    }
  },
};
