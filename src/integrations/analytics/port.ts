/** Who visited a website, and what they looked at. */
export interface SiteAnalytics {
  readonly provider: string;
  /**
   * The days `from` to `to`, both included, in UTC. May throw ProviderFault
   * (`integrations/fault.ts`).
   */
  report(query: { site: AnalyticsSite; from: Day; to: Day }): Promise<AnalyticsReport>;
}

/** `YYYY-MM-DD`. */
export type Day = string;

/** A website, as analytics providers identify it. */
export interface AnalyticsSite {
  /** The address that visitors use. */
  readonly url: string;
  /** Its project at the hosting provider. */
  readonly project: string;
  /** The provider's id of the site, where it is not the hostname. */
  readonly siteId?: string;
}

export interface AnalyticsReport {
  /**
   * Distinct people per day, added up: somebody who comes on two days counts twice, unless the
   * provider can tell.
   */
  readonly visitors: number;
  readonly pageviews: number;
  /** Every day asked for, oldest first. */
  readonly series: readonly { readonly date: Day; readonly visitors: number; readonly pageviews: number }[];
  /** Most visited first. */
  readonly topPages: readonly { readonly page: string; readonly visitors: number; readonly pageviews: number }[];
  /** Where visitors came from, the most frequent first. */
  readonly sources: readonly { readonly source: string; readonly visitors: number }[];
}

/** How many pages and how many sources a report lists at most. */
export const maxListed = 20;

const dayMs = 86_400_000;

/** The days `from` to `to`, both included; an empty list when `to` is before `from`. */
export const daysBetween = (from: Day, to: Day): readonly Day[] => {
  const first = Date.parse(from);
  const count = Math.max(0, Math.round((Date.parse(to) - first) / dayMs) + 1);
  return Array.from({ length: count }, (_, index) => new Date(first + index * dayMs).toISOString().slice(0, 10));
};

/** A report without visitors. */
export const emptyReport = (from: Day, to: Day): AnalyticsReport => ({
  visitors: 0,
  pageviews: 0,
  series: daysBetween(from, to).map((date) => ({ date, visitors: 0, pageviews: 0 })),
  topPages: [],
  sources: [],
});

/** A request for a page of a site served here. It is counted, never stored. */
export interface PageRequest {
  readonly project: string;
  /** Within the site, beginning with a slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The other end of the connection. */
  readonly peer: string | undefined;
}

/** Called for every page that is served. Returns at once and never throws. */
export type CountPage = (request: PageRequest) => void;
