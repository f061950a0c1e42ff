import type { BookingEvent } from '../../events/booking/booking.events.js';
import { bookingStream, type BookingKey } from '../../events/booking/booking.stream.js';
import { keyTextOf } from '../../events/defineStream.js';
import { defineProjection, type Projection } from '../projection.js';

/**
 * A booking of the embedded calendar that has not been cancelled. Within a website they are listed by
 * when they start, as their ids sort.
 */
export type BookingDocument = {
  readonly websiteId: string;
  readonly id: string;
  readonly title: string;
  readonly status: 'accepted';
  readonly start: string;
  readonly end: string;
  readonly location?: string;
};

export const bookingDocumentId = (key: BookingKey): string => keyTextOf(bookingStream, key);

export const bookingProjection: Projection<BookingDocument, BookingEvent> = defineProjection({
  name: 'booking',
  version: 2,
  stream: bookingStream,
  on: {
    BookingAdded: (_document, { data }) => {
      const { websiteId, bookingId, title, start, end, location } = data;
      const times = { start, end, ...(location !== undefined && { location }) };
      return { websiteId, id: bookingId, title, status: 'accepted', ...times };
    },
    BookingCancelled: () => null,
  },
  indexes: [{ field: 'websiteId' }],
});
