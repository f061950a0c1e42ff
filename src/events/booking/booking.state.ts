import type { StreamFold } from '../fold.js';
import type { BookingEvent } from './booking.events.js';
import { bookingStream, type BookingKey } from './booking.stream.js';

export interface BookingState {
  readonly stage: 'none' | 'accepted' | 'cancelled';
}

export const bookingFold: StreamFold<BookingState, BookingEvent, BookingKey> = {
  name: 'booking',
  stream: bookingStream,
  initialState: { stage: 'none' },
  evolve: (state, { type }) => {
    switch (type) {
      case 'BookingAdded':
        return { stage: 'accepted' };
      case 'BookingCancelled':
        return { stage: 'cancelled' };
      default:
        return state;
    }
  },
};
