import { beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createPlausible } from '../../src/integrations/analytics/plausible.js';
import type { SiteAnalytics } from '../../src/integrations/analytics/port.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock, startProvider, type Provider, type ProviderAnswer, type ProviderRequest } from '../support/provider.js';

/**
 * The used part of the stats API's query schema (https://plausible.io/docs/stats-api), which
 * refuses other fields.
 */
const query = new Ajv2020({ strict: false }).compile({
  type: 'object',
  required: ['site_id', 'metrics', 'date_range'],
  additionalProperties: false,
  properties: {
    site_id: { type: 'string' },
    metrics: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['visitors', 'visits', 'pageviews', 'events'] } },
    date_range: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' } },
    dimensions: {
      type: 'array',
      uniqueItems: true,
      items: { enum: ['event:page', 'event:hostname', 'visit:source', 'visit:referrer', 'time', 'time:day', 'time:month'] },
    },
    filters: {
      type: 'array',
      items: {
        type: 'array',
        prefixItems: [
          { enum: ['is', 'is_not', 'contains', 'contains_not', 'matches', 'matches_not'] },
          { enum: ['event:page', 'event:hostname', 'visit:source'] },
          { type: 'array', items: { type: ['string', 'integer'] } },
        ],
        minItems: 3,
        items: false,
      },
    },
    order_by: {
      type: 'array',
      items: { type: 'array', prefixItems: [{ type: 'string' }, { enum: ['asc', 'desc'] }], minItems: 2, items: false },
    },
    pagination: {
      type: 'object',
      additionalProperties: false,
      properties: { limit: { type: 'integer', minimum: 1 }, offset: { type: 'integer', minimum: 0 } },
    },
    include: { type: 'object' },
  },
});

interface View {
  readonly site: string;
  readonly day: string;
  readonly page: string;
  readonly source: string;
  readonly visitor: string;
}

interface Query {
  readonly site_id: string;
  readonly metrics: readonly ('visitors' | 'pageviews')[];
  readonly date_range: readonly [string, string];
  readonly dimensions?: readonly string[];
  readonly filters?: readonly (readonly ['matches', 'event:page', readonly string[]])[];
  readonly pagination?: { readonly limit: number };
}

const apiKey = 'plausible-canary-77';

/** A fake of Plausible with these page views, following its documentation. */
const plausibleWith =
  (views: readonly View[]) =>
  ({ method, url, headers, body }: ProviderRequest): ProviderAnswer => {
    if (method !== 'POST' || url.pathname !== '/api/v2/query') return { status: 404, body: { error: 'Not found' } };
    if (headers.authorization !== `Bearer ${apiKey}`) return { status: 401, body: { error: 'Invalid API key or site ID.' } };
    const asked = JSON.parse(body) as Query;
    if (!query(asked) || headers['content-type'] !== 'application/json') return { status: 400, body: { error: query.errors } };
    const { site_id: site, date_range: range, dimensions = [], filters = [], pagination, metrics } = asked;
    if (!views.some((view) => view.site === site)) return { status: 401, body: { error: 'Invalid API key or site ID.' } };
    const seen = views.filter(
      ({ day, page, ...view }) =>
        view.site === site &&
        day >= range[0] &&
        day <= range[1] &&
        filters.every(([, , patterns]) => patterns.some((pattern) => new RegExp(pattern).test(page))),
    );
    const nameOf = (view: View): string[] =>
      dimensions.map(
        (dimension) => ({ 'time:day': view.day, 'event:page': view.page, 'visit:source': view.source })[dimension] ?? '',
      );
    const groups = new Map<string, View[]>(dimensions.length === 0 ? [['[]', []]] : []);
    for (const view of seen)
      groups.set(JSON.stringify(nameOf(view)), [...(groups.get(JSON.stringify(nameOf(view))) ?? []), view]);
    const results = [...groups]
      .map(([names, group]) => ({
        dimensions: JSON.parse(names) as string[],
        metrics: metrics.map((metric) =>
          metric === 'pageviews' ? group.length : new Set(group.map((view) => view.visitor)).size,
        ),
      }))
      .sort((one, other) => (other.metrics[0] ?? 0) - (one.metrics[0] ?? 0))
      .slice(0, pagination?.limit ?? 10_000);
    return { status: 200, body: { results, meta: {}, query: asked } };
  };

const view = (day: string, page: string, visitor: string, source = 'Direct / None', site = 'bakery.example'): View => ({
  site,
  day,
  page,
  visitor,
  source,
});
const views = [
  view('2026-03-01', '/', 'ada', 'Google'),
  view('2026-03-01', '/prices', 'ada', 'Google'),
  view('2026-03-01', '/', 'bob'),
  view('2026-03-03', '/', 'ada'),
  view('2026-02-01', '/old', 'cyd'),
  view('2026-03-01', '/sites/shop/', 'dan', 'Bing', 'doorstep.example'),
  view('2026-03-01', '/sites/shop-2/', 'eve', 'Bing', 'doorstep.example'),
];

const site = { url: 'https://bakery.example/', project: 'bakery' };
const march = { from: '2026-03-01', to: '2026-03-03' };

let provider: Provider;
let logged: string[];
let plausible: SiteAnalytics;

beforeEach(async () => {
  provider = await startProvider(plausibleWith(views));
  logged = [];
  const logger = createLogger({ level: 'trace', destination: { write: (line: string) => void logged.push(line) } });
  plausible = createPlausible({ url: provider.url, apiKey, clock: hastyClock(), random: systemRandom, logger });
});

describe('a report of Plausible', () => {
  test('contains the totals, every day, the pages and the sources', async () => {
    expect(await plausible.report({ site, ...march })).toStrictEqual({
      visitors: 2,
      pageviews: 4,
      series: [
        { date: '2026-03-01', visitors: 2, pageviews: 3 },
        { date: '2026-03-02', visitors: 0, pageviews: 0 },
        { date: '2026-03-03', visitors: 1, pageviews: 1 },
      ],
      topPages: [
        { page: '/', visitors: 2, pageviews: 3 },
        { page: '/prices', visitors: 1, pageviews: 1 },
      ],
      sources: [
        { source: 'Direct / None', visitors: 2 },
        { source: 'Google', visitors: 1 },
      ],
    });
  });

  test('is about the site id of an attached service, if there is one', async () => {
    const report = await plausible.report({
      site: { ...site, url: 'https://elsewhere.example/', siteId: 'bakery.example' },
      ...march,
    });
    expect(report.visitors).toBe(2);
  });

  test('about a website that shares its hostname excludes the others', async () => {
    const shop = { url: 'https://doorstep.example/sites/shop/', project: 'shop' };
    const report = await plausible.report({ site: shop, ...march });
    expect(report).toMatchObject({ visitors: 1, topPages: [{ page: '/sites/shop/' }] });
  });
});

const failure = async (): Promise<ProviderFault> => {
  try {
    await plausible.report({ site, ...march });
  } catch (error) {
    if (error instanceof ProviderFault) return error;
    throw error;
  }
  throw new Error('nothing went wrong');
};

describe('when Plausible', () => {
  test('does not know the site, the fault says so', async () => {
    await expect(plausible.report({ site: { ...site, url: 'https://other.example' }, ...march })).rejects.toMatchObject({
      provider: 'Plausible',
      transient: false,
      message: 'the API key is not accepted, or may not read this site',
    });
  });

  test.each([[{ kind: 'broken' } as const], [{ kind: 'reset' } as const]])('%j once, the query is retried', async (mishap) => {
    provider.mishaps.push(mishap);
    expect((await plausible.report({ site, ...march })).visitors).toBe(2);
    expect(provider.requests).toHaveLength(5);
  });

  test('asks to wait, no request is sent before', async () => {
    provider.mishaps.push({ kind: 'limited', retryAfter: '120' });
    expect(await failure()).toMatchObject({ transient: true });
    const asked = provider.requests.length;
    expect((await failure()).retryAfterMs).toBeGreaterThan(100_000);
    expect(provider.requests).toHaveLength(asked);
  });

  test.each(['garbled', 'strange'] as const)('answers something %s, a fault says so', async (kind) => {
    provider.mishaps.push(...Array.from({ length: 4 }, () => ({ kind })));
    expect(await failure()).toMatchObject({ transient: true, provider: 'Plausible' });
  });

  test.each(['silent', 'slow'] as const)('is %s, the request times out', async (kind) => {
    provider.mishaps.push(...Array.from({ length: 12 }, () => ({ kind })));
    expect(await failure()).toMatchObject({ transient: true });
    expect(provider.requests.length).toBeLessThanOrEqual(12);
  });

  test('fails, the log has the request id and not the key', async () => {
    provider.mishaps.push(...Array.from({ length: 12 }, () => ({ kind: 'broken' }) as const));
    await failure();
    expect(logged.join('')).toContain('"providerRequestId":"r1"');
    expect(logged.join('')).not.toContain(apiKey);
  });
});
