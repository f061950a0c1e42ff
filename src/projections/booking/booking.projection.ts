import type { BookingEvent } from '../../events/booking/booking.events.js';
import { bookingStream, type BookingKey } from '../../events/booking/booking.stream.js';
import { streamPrefix } from '../../events/defineStream.js';
import type { Projection } from '../projection.js';

/** A booking of the embedded calendar. Within a website they are listed by when they start, as their ids sort. */
export type BookingDocument = {
  readonly websiteId: string;
  readonly id: string;
  readonly title: string;
  readonly status: 'accepted' | 'cancelled';
  readonly start: string;
  readonly end: string;
  readonly location?: string;
};

const prefix = streamPrefix(bookingStream);

export const bookingDocumentId = (key: BookingKey): string => bookingStream.name(key).slice(prefix.length);

export const bookingProjection: Projection<BookingDocument, BookingEvent> = {
  name: 'booking',
  version: 1,
  handles: ['BookingAdded', 'BookingCancelled'],
  ignores: [],
  documentId: ({ data }) => bookingDocumentId(data),
  stream: (id) => `${prefix}${id}`,
  indexes: [{ field: 'websiteId' }],
  evolve: (document, event) => {
    switch (event.type) {
      case 'BookingAdded': {
        const { websiteId, bookingId, title, start, end, location } = event.data;
        const times = { start, end, ...(location !== undefined && { location }) };
        return { websiteId, id: bookingId, title, status: 'accepted', ...times };
      }
      case 'BookingCancelled':
        return document === null ? null : { ...document, status: 'cancelled' };
      default:
        return document;
    }
  },
};
