import { Type, type Static } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import { SeoFinding, SeoProbes, SeoScanTrigger } from '../../../events/seo/seo.events.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import { entityId } from '../../../platform/ids.js';
import { seoProjection, type SeoScan as Scan } from '../../../projections/seo/seo.projection.js';
import { seoScanProcess } from '../../../workers/seo/seo.process.js';
import { route, type Route, type RouteTag } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';

const seoTag: RouteTag = { name: 'SEO', description: 'Scans of the website: what keeps people from finding it.' };
const Time = Type.String({ format: 'date-time' });

const SeoScan = Type.Object(
  {
    id: Type.String(),
    status: Type.Enum(['queued', 'running', 'completed', 'failed']),
    trigger: SeoScanTrigger,
    url: Type.String(),
    requestedAt: Time,
    finishedAt: Type.Optional(Time),
    reason: Type.Optional(Type.String({ description: 'Why it failed, or what went wrong in the last attempt.' })),
    score: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    pages: Type.Optional(Type.Integer({ description: 'How many were scanned.' })),
    complete: Type.Optional(Type.Boolean({ description: 'Whether these were all pages that were found.' })),
    findings: Type.Optional(Type.Array(SeoFinding, { description: 'The gravest first.' })),
    probes: Type.Optional(SeoProbes),
  },
  { $id: 'SeoScan', description: 'One scan of a website.' },
);

const SeoReport = Type.Object(
  {
    latest: Type.Union([SeoScan, Type.Null()], { description: 'The newest scan, also one under way; null before the first.' }),
    past: Type.Array(SeoScan, { description: 'Those before, newest first.' }),
  },
  { $id: 'SeoReport', description: 'The scans of a website.' },
);

const toScan = ({ findings, probes, ...scan }: Scan): Static<typeof SeoScan> => ({
  ...scan,
  ...(findings !== undefined && { findings: findings.map((finding) => ({ ...finding })) }),
  ...(probes !== undefined && { probes }),
});

/** How well a website can be found, and what to change. */
export const seoRoutes = ({ reader, siteAddress }: { reader: Reader; siteAddress: SiteAddress }): readonly Route[] => {
  const scansOf = async (websiteId: string, through?: bigint): Promise<readonly Scan[]> =>
    (await reader.read(seoProjection, websiteId, through)).document?.scans ?? [];

  return [
    route({
      method: 'get',
      path: '/websites/:id/seo',
      operationId: 'getSeo',
      summary: 'Read the latest and the past scans of a website',
      description: 'What keeps people from finding the website, the gravest first, with a score of 100.',
      tag: seoTag,
      scope: 'website',
      access: 'members',
      feature: 'seo',
      answers: { 200: { description: 'The scans.', schema: SeoReport } },
      answer: async ({ params }) => {
        const [latest, ...past] = await scansOf(params.id);
        return { body: { latest: latest === undefined ? null : toScan(latest), past: past.map(toScan) } };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/seo/scans',
      operationId: 'requestSeoScan',
      summary: 'Have a website scanned; one that is under way already is answered with',
      description:
        'Goes on by itself after the answer. One that is under way already is answered with, and no second one is begun.',
      tag: seoTag,
      scope: 'website',
      access: 'admin',
      feature: 'seo',
      refusals: ['website_not_active'],
      answers: { 202: { description: 'The scan, which goes on by itself.', schema: SeoScan } },
      act: async ({ website: { website }, context }, acting) => {
        const { id: websiteId } = website;
        const url = siteAddress(website);
        if (url === undefined) throw new Refused(refusals.websiteNotActive(websiteId));
        const scanId = entityId(context.commandId, 'seo-scan');
        const command = { type: 'RequestScan', websiteId, scanId, url, trigger: 'request' } as const;
        return acting.handle(seoScanProcess, command, context);
      },
      answer: async ({ params }, { state: { scanId }, revision }) => {
        const scan = (await scansOf(params.id, revision)).find(({ id }) => id === scanId);
        if (scan === undefined) throw new Error(`scan ${scanId ?? ''} is gone the moment it was asked for`);
        return { status: 202, body: toScan(scan) };
      },
    }),
  ];
};
