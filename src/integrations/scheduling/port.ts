/** The bookings of a website's business. */
export interface Scheduling {
  readonly provider: string;
  /** Ordered by start, the earliest first. May throw ProviderFault (`integrations/fault.ts`). */
  bookings(query: BookingsQuery): Promise<readonly Booking[]>;
  /** How many bookings there are on all pages. May throw ProviderFault. */
  count(query: BookingsFilter): Promise<number>;
}

export interface BookingsFilter {
  readonly site: SchedulingSite;
  /** ISO 8601 UTC: only bookings that start at this time or later. */
  readonly from: string;
  /** ISO 8601 UTC: only bookings that end at this time or earlier. */
  readonly to?: string;
}

export interface BookingsQuery extends BookingsFilter {
  /** Only bookings after this one. */
  readonly after?: BookingPlace;
  readonly limit: number;
}

/** Where a booking stands in a list. */
export interface BookingPlace {
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly start: string;
  /** The how manyth it is of those that start then, from 1: for providers that go on from no id. */
  readonly nth: number;
}

/** A website, as scheduling providers identify it. */
export interface SchedulingSite {
  readonly websiteId: string;
  readonly slug: string;
  /** Its event types, where their slug is not the website's. */
  readonly eventTypeIds?: readonly number[];
  /** The key of the website's own account. */
  readonly apiKey?: string;
}

export interface Booking {
  readonly id: string;
  readonly title: string;
  readonly status: 'accepted' | 'pending' | 'cancelled' | 'rejected';
  /** ISO 8601 UTC. */
  readonly start: string;
  readonly end: string;
  readonly location?: string;
  readonly attendees: readonly { readonly name: string; readonly email?: string }[];
}
