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
}

export interface CancelBooking {
  readonly type: 'CancelBooking';
  readonly at: string;
  readonly websiteId: string;
  readonly bookingId: string;
}

export type CalendarCommand = AddBooking | CancelBooking;
