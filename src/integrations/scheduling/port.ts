/** What people have booked with the business of a website. */
export interface Scheduling {
  readonly provider: string;
  /** By when they start, the earliest first. May throw ProviderFault (`integrations/fault.ts`). */
  bookings(query: BookingsQuery): Promise<readonly Booking[]>;
}

export interface BookingsQuery {
  readonly site: SchedulingSite;
  /** ISO 8601 UTC: bookings that start at this time or later. */
  readonly from: string;
  /** ISO 8601 UTC: and end at this time or before. */
  readonly to?: string;
  /** How many to leave out. */
  readonly skip: number;
  readonly limit: number;
}

/** A website as the scheduling services know it. */
export interface SchedulingSite {
  readonly websiteId: string;
  readonly slug: string;
  /** What can be booked, where that is not named as the website. */
  readonly eventTypeIds?: readonly number[];
  /** Of an account of its own. */
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
