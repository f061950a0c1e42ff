import type { Engine } from '../../engine.js';
import type { BookingEvent } from '../../events/booking/booking.events.js';
import type { BookingState } from '../../events/booking/booking.state.js';
import { entityId, idAt } from '../../platform/ids.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import type { AddBooking } from './booking.commands.js';
import { bookingDecider } from './booking.decider.js';

/**
 * Adds a booking to the embedded calendar. Its id sorts by when the booking starts.
 * @param input `start` and `end` in ISO 8601 UTC with milliseconds
 * @throws Refused: `Invalid request body — end: …`, `The calendar is full`
 */
export const addBooking = async (
  engine: Engine,
  input: Omit<AddBooking, 'type' | 'at' | 'bookingId'>,
  context: CommandContext,
): Promise<Handled<BookingState, BookingEvent> & { readonly bookingId: string }> => {
  const bookingId = idAt(Date.parse(input.start), entityId(context.commandId, 'booking'));
  return { bookingId, ...(await engine.handle(bookingDecider, { type: 'AddBooking', bookingId, ...input }, context)) };
};
