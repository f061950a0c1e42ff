import type { Website } from '@doorstep/sdk';
import { z } from 'zod';
import { counted, dayOf, distance, isPast } from '../dates.js';
import { isNotFound } from '../faults.js';
import { tool, type Report, type ToolContext } from '../tool.js';
import {
  compact,
  deliveryInWords,
  deliveryQuotes,
  DeliveryView,
  ProvisioningView,
  toDeliveryView,
  toProvisioningView,
  toWebsiteView,
  WebsiteArgument,
  WebsiteView,
} from '../views.js';

/** The date of the whole, or of an open checkpoint, has passed. */
const isLate = ({ deliverySummary: summary }: Website, now: Date): boolean =>
  summary?.lateFrom !== undefined && isPast(summary.lateFrom, now);

/** One line for each website, without what people wrote. */
const inWords = (website: Website, now: Date): string => {
  const { slug, status, deliverySummary: delivery, provisioningSummary: provisioning } = website;
  const parts = [website.archivedAt === undefined ? status : 'archived'];
  if (provisioning?.status === 'failed') parts.push(`provisioning failed at ${provisioning.step ?? 'an unknown step'}`);
  if (delivery !== undefined) {
    const { pending, in_progress: running, done } = delivery.counts;
    const eta = delivery.estimatedCompletionAt;
    const late = isLate(website, now);
    parts.push(
      `ready by ${dayOf(eta)} (${distance(eta, now)}${late && isPast(eta, now) ? ': late' : ''})`,
      `${String(done)} of ${String(pending + running + done)} done`,
    );
    if (late && !isPast(eta, now)) parts.push('a checkpoint is late');
    if (delivery.neededFromClient.length > 0) parts.push('waits for the client');
  }
  return `- ${slug}: ${parts.join(', ')}`;
};

export const findWebsites = tool({
  name: 'find_websites',
  title: 'Find websites',
  description:
    'Find websites by name, or those that need attention: late (past their date), failed (provisioning; for admins the last deployment too) or waiting (for something from the client). Without arguments: the newest. Gives slugs for the other tools.',
  toolset: 'always',
  operations: ['listWebsites', 'listMyWebsites'],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({
    query: z.string().min(1).max(200).optional().describe('Part of a name or slug'),
    attention: z.enum(['late', 'failed', 'waiting']).optional(),
    archived: z.boolean().optional().describe('The archived ones instead; admins only'),
    limit: z.int().min(1).max(100).default(25),
  }),
  output: z.object({
    websites: z.array(
      WebsiteView.extend({
        readyBy: z.string().optional(),
        late: z.boolean().optional(),
        done: z.number().optional(),
        checkpoints: z.number().optional(),
        needed: z.array(z.string()).optional().describe('From the client'),
        provisioning: ProvisioningView.optional(),
      }),
    ),
    more: z.boolean(),
  }),
  run: async ({ doorstep, caller, signal, now }, { query, attention, archived, limit }) => {
    const at = now();
    const found =
      caller.role === 'admin'
        ? await doorstep.websites.list({ ...compact({ q: query, attention, archived }), limit: limit + 1 }, { signal })
        : await ownWebsites();
    const websites = found.slice(0, limit);

    /** Clients have few websites, and a route that does not filter. */
    async function ownWebsites(): Promise<Website[]> {
      const own: Website[] = [];
      for await (const website of doorstep.me.websites({ limit: 200 }, { signal })) {
        const { name, slug, archivedAt, deliverySummary, provisioningSummary } = website;
        if (query !== undefined && !`${name} ${slug}`.toLowerCase().includes(query.toLowerCase())) continue;
        if ((archivedAt !== undefined) !== (archived === true)) continue;
        if (attention === 'late' && !isLate(website, at)) continue;
        if (attention === 'failed' && provisioningSummary?.status !== 'failed') continue;
        if (attention === 'waiting' && (deliverySummary?.neededFromClient.length ?? 0) === 0) continue;
        own.push(website);
        if (own.length > limit) break;
      }
      return own;
    }

    return {
      text: [
        websites.length === 0 ? 'No website fits.' : `${counted(websites.length, 'website')}:`,
        ...websites.map((website) => inWords(website, at)),
        ...(found.length > limit ? ['There are more: narrow the search, or raise the limit.'] : []),
      ].join('\n'),
      quotes: websites.length === 0 ? {} : { names: Object.fromEntries(websites.map(({ slug, name }) => [slug, name])) },
      data: {
        websites: websites.map((website) => {
          const { deliverySummary: delivery, provisioningSummary: provisioning } = website;
          return {
            ...toWebsiteView(website),
            ...(delivery !== undefined && {
              readyBy: delivery.estimatedCompletionAt,
              late: isLate(website, at),
              done: delivery.counts.done,
              checkpoints: delivery.counts.done + delivery.counts.pending + delivery.counts.in_progress,
              needed: delivery.neededFromClient.map(({ text }) => text),
            }),
            ...(provisioning !== undefined &&
              provisioning.status !== 'succeeded' && {
                provisioning: compact({
                  status: provisioning.status,
                  step: provisioning.step,
                  reason: provisioning.reason,
                }),
              }),
          };
        }),
        more: found.length > limit,
      },
    };
  },
});

/** What a request that may find nothing found. */
const orNothing = async <Found>(request: Promise<Found>): Promise<Found | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const Status = z.object({
  website: WebsiteView,
  delivery: DeliveryView.optional(),
  provisioning: ProvisioningView.optional(),
  forecast: z
    .array(z.object({ id: z.string(), median: z.string(), p90: z.string() }))
    .optional()
    .describe('Of open checkpoints, from past deliveries'),
});

export const websiteStatus = tool({
  name: 'website_status',
  title: 'Where a website stands',
  description:
    'Tell where a website stands: when it will be ready, its checkpoints, what is needed from the client, its preview, its provisioning. Use it before telling a client how far their website is, and for the ids of checkpoints.',
  toolset: 'always',
  operations: ['getWebsite', 'getDelivery', 'getProvisioningJob', 'getDeliveryForecast'],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument }),
  output: Status,
  run: (context, { website }) => tellStatus(context, website),
});

type StatusParts = Pick<ToolContext, 'doorstep' | 'caller' | 'signal' | 'now'>;

/** What `website_status` and the resource of a website answer. */
export const tellStatus = async (
  { doorstep, caller, signal, now }: StatusParts,
  named: string,
): Promise<Report<z.input<typeof Status>>> => {
  const website = await doorstep.websites.findListed(named, { signal });
  const [delivery, provisioning, forecast] = await Promise.all([
    orNothing(doorstep.websites.delivery.get(website.id, {}, { signal })),
    orNothing(doorstep.websites.provisioning.get(website.id, { signal })),
    caller.role === 'admin' ? orNothing(doorstep.websites.delivery.forecast(website.id, { signal })) : undefined,
  ]);
  const expected = forecast?.checkpoints.flatMap(({ id, medianAt, p90At }) =>
    medianAt === null || p90At === null ? [] : [{ id, median: medianAt, p90: p90At }],
  );
  return {
    text: [
      `${website.slug}: ${website.archivedAt === undefined ? website.status : 'archived'}${delivery === undefined ? '; its delivery is not set up' : `; ${deliveryInWords(delivery, now())}`}.`,
      ...(provisioning === undefined || provisioning.status === 'succeeded'
        ? []
        : [`Provisioning: ${provisioning.status}${stepInWords(toProvisioningView(provisioning).step)}.`]),
      ...(website.url === undefined ? [] : [`Site: ${website.url}`]),
    ].join('\n'),
    quotes: {
      name: website.name,
      ...(delivery !== undefined && deliveryQuotes(delivery)),
      ...(delivery?.previewUrl !== undefined && {
        preview: { url: delivery.previewUrl, clientsSeeIt: delivery.showPreviewUrl },
      }),
      ...(provisioning?.reason !== undefined && { provisioningReason: provisioning.reason }),
    },
    data: {
      website: toWebsiteView(website),
      ...(delivery !== undefined && { delivery: toDeliveryView(delivery) }),
      ...(provisioning !== undefined && { provisioning: toProvisioningView(provisioning) }),
      ...(expected !== undefined && expected.length > 0 && { forecast: expected }),
    },
  };
};

const stepInWords = (step: string | undefined): string => (step === undefined ? '' : ` at ${step}`);
