import type { BookingKey } from '../../events/booking/booking.stream.js';
import { idAt } from '../../platform/ids.js';
import type { Reader } from '../reader.js';
import { bookingDocumentId, bookingProjection, type BookingDocument } from './booking.projection.js';

const pageSize = 200;

/** Sorts before the ids of every booking that starts then (ISO 8601 UTC) or later. */
const placeOf = (websiteId: string, from: string): string =>
  bookingDocumentId({ websiteId, bookingId: idAt(Math.max(0, Date.parse(from)), '') });

/** Bookings of a website after a place, by when they start. */
async function* bookingsAfter(reader: Reader, websiteId: string, place: string): AsyncGenerator<BookingDocument, void> {
  let after = place;
  for (;;) {
    const page = await reader.list(bookingProjection, { where: { websiteId }, order: 'ascending', after, limit: pageSize });
    for (const { body, id } of page) {
      yield body;
      after = id;
    }
    if (page.length < pageSize) return;
  }
}

/**
 * A part of a website's embedded calendar: from `from` on, ending by `to` (ISO 8601 UTC), by when
 * they start; after the booking `after`, which may be gone.
 */
export const listBookings = async (
  reader: Reader,
  websiteId: string,
  { from, to, after, limit }: { from: string; to?: string; after?: { readonly id: string }; limit: number },
): Promise<readonly BookingDocument[]> => {
  const found: BookingDocument[] = [];
  const place = after === undefined ? placeOf(websiteId, from) : bookingDocumentId({ websiteId, bookingId: after.id });
  for await (const booking of bookingsAfter(reader, websiteId, place)) {
    if (to !== undefined && booking.start >= to) break;
    if (to === undefined || booking.end <= to) found.push(booking);
    if (found.length === limit) break;
  }
  return found;
};

/** How many bookings `listBookings` lists in all. */
export const countBookings = async (
  reader: Reader,
  websiteId: string,
  { from, to }: { readonly from: string; readonly to?: string },
): Promise<number> => {
  // Where they end is in no index; a calendar is bounded.
  if (to !== undefined) return (await listBookings(reader, websiteId, { from, to, limit: Infinity })).length;
  return reader.count(bookingProjection, { where: { websiteId }, range: { from: placeOf(websiteId, from) } });
};

/** A booking as of now, or of the revision `through` of its stream, with that revision. */
export const readBooking = async (
  reader: Reader,
  key: BookingKey,
  through?: bigint,
): Promise<{ readonly booking: BookingDocument | null; readonly revision: bigint }> => {
  const { document: booking, revision } = await reader.read(bookingProjection, bookingDocumentId(key), through);
  return { booking, revision };
};
