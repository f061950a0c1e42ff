import { Type } from 'typebox';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, parserFor, parseJson } from '../http.js';
import { daysBetween, maxListed, type AnalyticsSite, type SiteAnalytics } from './port.js';

const provider = 'Plausible';

const parseResults = parserFor(
  provider,
  Type.Object({
    results: Type.Array(Type.Object({ metrics: Type.Array(Type.Number()), dimensions: Type.Array(Type.String()) })),
  }),
);

/** Every query asks for these, in this order. */
const metrics = ['visitors', 'pageviews'];

interface Row {
  /** The page, source or day; empty in a total. */
  readonly name: string;
  readonly visitors: number;
  readonly pageviews: number;
}

/**
 * Reports from Plausible's stats API, version 2 (https://plausible.io/docs/stats-api), with four
 * queries per report. The site id is the website's hostname, unless the website names another one;
 * where several websites share a hostname, each sees only the pages below its own path.
 */
export const createPlausible = (parts: {
  url: string;
  apiKey: string;
  clock: Clock;
  random: Random;
  logger: Logger;
}): SiteAnalytics => {
  const send = createProviderHttp({ provider, requestIdHeader: 'x-request-id', timeoutMs: 5_000, ...parts });

  const rowsOf = async (query: Readonly<Record<string, unknown>>): Promise<readonly Row[]> => {
    const answer = await send({
      method: 'POST',
      url: `${parts.url}/api/v2/query`,
      headers: { authorization: `Bearer ${parts.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ metrics, ...query }),
      retryable: true,
    });
    if (answer.status !== 200) throw new ProviderFault({ provider, message: refusalOf(answer.status), transient: false });
    const { results } = parseResults(parseJson(provider, answer));
    return results.map(({ metrics: [visitors = 0, pageviews = 0], dimensions: [name = ''] }) => ({ name, visitors, pageviews }));
  };

  return {
    provider,
    report: async ({ site, from, to }) => {
      const about = { site_id: site.siteId ?? new URL(site.url).hostname, date_range: [from, to], ...filtersFor(site) };
      const listed = { order_by: [['visitors', 'desc']], pagination: { limit: maxListed, offset: 0 } };
      const [[total], days, pages, sources] = await Promise.all([
        rowsOf(about),
        rowsOf({ ...about, dimensions: ['time:day'] }),
        rowsOf({ ...about, ...listed, dimensions: ['event:page'] }),
        rowsOf({ ...about, ...listed, dimensions: ['visit:source'] }),
      ]);
      // Plausible omits days without visitors.
      const byDay = new Map(days.map((day) => [day.name, day]));
      return {
        visitors: total?.visitors ?? 0,
        pageviews: total?.pageviews ?? 0,
        series: daysBetween(from, to).map((date) => {
          const { visitors = 0, pageviews = 0 } = byDay.get(date) ?? {};
          return { date, visitors, pageviews };
        }),
        topPages: pages.map(({ name: page, visitors, pageviews }) => ({ page, visitors, pageviews })),
        sources: sources.map(({ name: source, visitors }) => ({ source, visitors })),
      };
    },
  };
};

/**
 * A website below a path shares its hostname with others, whose figures its clients must not see.
 */
const filtersFor = ({ siteId, url }: AnalyticsSite): { filters?: readonly unknown[] } => {
  const { pathname } = new URL(url);
  if (siteId !== undefined || pathname === '/') return {};
  const below = pathname.replaceAll(/[^\w/]/g, String.raw`\$&`);
  return { filters: [['matches', 'event:page', [`^${below}`]]] };
};

const refusalOf = (status: number): string => {
  if (status === 401) return 'the API key is not accepted, or may not read this site';
  return `the query was answered with status ${String(status)}`;
};
