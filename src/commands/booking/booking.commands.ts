export interface AddBooking {
  readonly type: 'AddBooking';
  readonly at: string;
  readonly websiteId: string;
  readonly bookingId: string;
  readonly title: string;
  /** ISO 8601 UTC with milliseconds, as `end`. */
  readonly start: string;
  readonly end: string;
  readonly location?: string | undefined;
  /** Bookings of the website that count towards the limit, as the read model knows them. */
  readonly kept: number;
}

export interface CancelBooking {
  readonly type: 'CancelBooking';
  readonly at: string;
  readonly websiteId: string;
  readonly bookingId: string;
}

export type BookingCommand = AddBooking | CancelBooking;
