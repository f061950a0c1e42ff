import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import { emptyReport, type Day, type SiteAnalytics } from '../../../integrations/analytics/port.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import type { Engine } from '../../../engine.js';
import type { Reader } from '../../../projections/reader.js';
import { isoTime } from '../../../platform/clock.js';
import { isTime, utcTime } from '../../../platform/times.js';
import { serviceOf } from '../../../projections/service/service.queries.js';
import { route, type Route, type RouteTag } from '../../route.js';

const analyticsTag: RouteTag = { name: 'Analytics', description: 'Visitors and page views.' };

const count = Type.Integer({ minimum: 0 });
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

const AnalyticsReport = Type.Object(
  {
    visitors: Type.Integer({ minimum: 0, description: 'Told apart within a day.' }),
    pageviews: count,
    series: Type.Array(Type.Object({ date: day, visitors: count, pageviews: count }), { description: 'A day each, in UTC.' }),
    topPages: Type.Array(Type.Object({ page: Type.String(), visitors: count, pageviews: count })),
    sources: Type.Array(Type.Object({ source: Type.String(), visitors: count })),
  },
  { $id: 'AnalyticsReport', description: 'How many people visited a website.' },
);

const dayMs = 86_400_000;
const usualDays = 30;
const maxDays = 366;

/** Days are given as such, or as any time of the day. */
const dayOf = (field: string, text: string | undefined): Day | undefined => {
  if (text === undefined) return undefined;
  if (isTime(text)) return utcTime(text).slice(0, 10);
  if (isTime(`${text}T00:00:00Z`)) return text;
  throw new Refused(refusals.invalidQuery(field, 'must be a day as in 2030-01-31, or a time'));
};

/** @throws Refused */
const daysAsked = (query: { from?: string; to?: string }, now: number): { from: Day; to: Day } => {
  const to = dayOf('to', query.to) ?? isoTime(now).slice(0, 10);
  const from = dayOf('from', query.from) ?? isoTime(Math.max(0, Date.parse(to) - (usualDays - 1) * dayMs)).slice(0, 10);
  if (from > to) throw new Refused(refusals.invalidQuery('from', 'must not be after to'));
  // Counted without a list of them: there may be millions.
  if (Date.parse(to) - Date.parse(from) >= maxDays * dayMs) {
    throw new Refused(refusals.invalidQuery('from', `must be at most ${String(maxDays)} days before to`));
  }
  return { from, to };
};

const laterOf = (one: Day, other: Day): Day => (one > other ? one : other);

/** Who visits a website. */
export const analyticsRoutes = (parts: {
  engine: Engine;
  reader: Reader;
  analytics: SiteAnalytics;
  siteAddress: SiteAddress;
}): readonly Route[] => [
  route({
    method: 'get',
    path: '/websites/:id/analytics',
    operationId: 'getAnalytics',
    summary: 'Read how many people visited a website, and which pages they viewed',
    description: 'Days without a visit, and those before the website was created, are listed with zeros. At most 366 days.',
    tag: analyticsTag,
    scope: 'website',
    access: 'members',
    asksProvider: true,
    feature: 'analytics',
    query: Type.Object({
      from: Type.Optional(
        Type.String({
          maxLength: 40,
          description: `The first day, or a time of it (UTC). Default: ${String(usualDays)} days in all.`,
        }),
      ),
      to: Type.Optional(Type.String({ maxLength: 40, description: 'The last day, or a time of it (UTC). Default: today.' })),
    }),
    answers: { 200: { description: 'The figures of these days.', schema: AnalyticsReport } },
    answer: async ({ query, website: { website } }) => {
      const { from, to } = daysAsked(query, parts.engine.clock.now());
      const { hosting } = website;
      const url = parts.siteAddress(website);
      if (url === undefined || hosting === undefined) return { body: emptyReport(from, to) };
      const siteId = (await serviceOf(parts.reader, website.id, 'analytics'))?.siteId;
      const site = { url, project: hosting.name, ...(siteId !== undefined && { siteId }) };
      // Another website, since deleted, may have had its name and address; a site id of its own is the website's alone.
      const first = siteId === undefined ? laterOf(from, website.createdAt.slice(0, 10)) : from;
      if (first > to) return { body: emptyReport(from, to) };
      const report = await parts.analytics.report({ site, from: first, to });
      const { series } = emptyReport(from, to);
      return { body: { ...report, series: [...series.slice(0, -report.series.length), ...report.series] } };
    },
  }),
];
