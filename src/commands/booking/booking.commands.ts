interface OfBooking {
  readonly at: string;
  readonly websiteId: string;
  readonly bookingId: string;
}

export interface AddBooking extends OfBooking {
  readonly type: 'AddBooking';
  readonly title: string;
  /** ISO 8601 UTC with milliseconds, as `end`. */
  readonly start: string;
  readonly end: string;
  readonly location?: string | undefined;
  /** Bookings of the website that count towards the limit, as the read model knows them. */
  readonly kept: number;
}

export interface CancelBooking extends OfBooking {
  readonly type: 'CancelBooking';
}

export type BookingCommand = AddBooking | CancelBooking;
