import type { ContentDocument, Document, Doorstep, Page } from '@doorstep/sdk';
import { z } from 'zod';
import { counted } from '../dates.js';
import { ToolFault } from '../faults.js';
import { tool } from '../tool.js';
import { compact, fitting, longestAnswer, WebsiteArgument } from '../views.js';

/** The longest page of the API, with the number of all. */
const page = { limit: 200, count: true };

const areas = ['content', 'marketing'] as const;

const bodyOf = (doorstep: Doorstep, area: (typeof areas)[number]) =>
  area === 'content' ? doorstep.websites.content : doorstep.websites.marketing;

const describeContent = ({ id, hash, updatedAt, publishedHash }: ContentDocument) =>
  compact({ id, hash, updated: updatedAt, published: publishedHash === undefined ? undefined : publishedHash === hash });

export const readContent = tool({
  name: 'read_content',
  title: 'Read what a website contains',
  description:
    'Read a website’s content: its content or marketing documents, its files (documents) and images (media), its visitors (analytics) or its findings for search engines (seo). Without id: a list. With id: the document with the hash that save_content needs, or an address of the file, good for 5 minutes.',
  toolset: 'content',
  operations: [
    'listContent',
    'getContent',
    'listMarketing',
    'getMarketing',
    'listDocuments',
    'getDocumentAddress',
    'listMedia',
    'getMediaAddress',
    'getAnalytics',
    'getSeo',
  ],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({
    website: WebsiteArgument,
    kind: z.enum([...areas, 'documents', 'media', 'analytics', 'seo']),
    id: z.string().max(200).optional(),
  }),
  output: z.object({
    slug: z.string(),
    items: z.array(z.record(z.string(), z.unknown())).optional(),
    document: z.object({ id: z.string(), hash: z.string(), body: z.unknown() }).optional(),
    url: z.string().optional(),
    report: z.record(z.string(), z.unknown()).optional(),
    cut: z.boolean().optional().describe('There is more'),
  }),
  run: async ({ doorstep, signal }, { website: named, kind, id }) => {
    const { websites } = doorstep;
    const { id: websiteId, slug } = await websites.findListed(named, { signal });
    switch (kind) {
      case 'content':
      case 'marketing': {
        const area = bodyOf(doorstep, kind);
        if (id === undefined) {
          const found: ReturnType<typeof describeContent>[] = [];
          // A page ends early when its documents are large.
          for await (const document of area.list(websiteId, { limit: page.limit }, { signal }))
            found.push(describeContent(document));
          return listing(slug, kind, found);
        }
        const { hash, body } = await area.get(websiteId, id, { signal });
        if (JSON.stringify(body).length > longestAnswer)
          throw new ToolFault(`This document is too long for an assistant to read at once. Open it in the portal.`);
        return {
          text: `The ${kind} document ${id} of ${slug}. Its hash: ${hash}`,
          quotes: { body },
          data: { slug, document: { id, hash, body } },
        };
      }
      case 'documents':
      case 'media': {
        if (id !== undefined) {
          const { url } = await websites[kind].url(websiteId, id, {}, { signal });
          return { text: `Good for 5 minutes: ${url}`, data: { slug, url } };
        }
        const files: Page<Pick<Document, 'id' | 'name' | 'contentType' | 'size'>> =
          kind === 'media'
            ? await websites.media.list(websiteId, page, { signal })
            : await websites.documents.list(websiteId, page, { signal });
        return listing(
          slug,
          kind,
          files.map(({ id: file, name, contentType, size }) => ({ id: file, name, contentType, size })),
          files.total,
        );
      }
      case 'analytics': {
        const report = await websites.analytics.get(websiteId, {}, { signal });
        const { topPages, sources, ...others } = report;
        return {
          text: `${slug}: ${counted(report.visitors, 'visitor')}, ${counted(report.pageviews, 'page')} viewed.`,
          quotes: { topPages: topPages.slice(0, 10), sources: sources.slice(0, 10) },
          data: { slug, report: { ...others, topPages: topPages.slice(0, 10), sources: sources.slice(0, 10) } },
        };
      }
      case 'seo': {
        const { latest } = await websites.seo.get(websiteId, { signal });
        return {
          text: latest === null ? `${slug} was not scanned yet.` : `The latest scan of ${slug}.`,
          quotes: latest === null ? {} : { latest },
          data: { slug, report: { ...latest } },
        };
      }
      default:
        return kind satisfies never;
    }
  },
});

/**
 * As many as an assistant can read at once.
 * @param total - how many there are, in the pages after this one too
 */
const listing = (slug: string, kind: string, listed: readonly object[], total = listed.length) => {
  const items = fitting(listed) as Record<string, unknown>[];
  const cut = items.length < total;
  return {
    text: `${slug}: ${String(total)} in ${kind}${cut ? `, the first ${String(items.length)} of them; the portal has all` : ''}.`,
    quotes: items.length === 0 ? {} : { items },
    data: { slug, items, ...(cut && { cut }) },
  };
};

export const saveContent = tool({
  name: 'save_content',
  title: 'Save content',
  description:
    'Save a content or marketing document of a website, whole: read it first with read_content, change it, pass its hash as baseHash. Without baseHash it is created. publish_website puts saved content on the site. Earlier versions are kept.',
  toolset: 'content',
  operations: ['saveContent', 'saveMarketing'],
  callers: ['admin', 'client'],
  effect: 'changes',
  idempotent: true,
  openWorld: false,
  input: z.object({
    website: WebsiteArgument,
    kind: z.enum(areas),
    id: z.string().min(1).max(200),
    body: z.unknown().describe('The whole JSON'),
    baseHash: z.string().optional(),
  }),
  output: z.object({ slug: z.string(), id: z.string(), hash: z.string() }),
  run: async ({ doorstep, signal }, { website: named, kind, id, body, baseHash }) => {
    const { id: websiteId, slug } = await doorstep.websites.findListed(named, { signal });
    const { hash } = await bodyOf(doorstep, kind).save(websiteId, id, { baseHash: baseHash ?? null, body }, { signal });
    return {
      // Marketing texts stand beside the website.
      text: `The ${kind} document ${id} of ${slug} is saved. Its hash: ${hash}.${kind === 'content' ? ' publish_website puts it on the site.' : ''}`,
      data: { slug, id, hash },
    };
  },
});

export const publishWebsite = tool({
  name: 'publish_website',
  title: 'Preview, publish or rebuild a website',
  description:
    'Preview what is saved of the content (a draft, shown for an hour), publish it on the site, or rebuild the site from its newest commit.',
  toolset: 'content',
  operations: ['previewContent', 'publishContent', 'redeployWebsite'],
  callers: ['admin', 'client'],
  effect: 'changes',
  idempotent: false,
  openWorld: true,
  input: z.object({ website: WebsiteArgument, action: z.enum(['preview', 'publish', 'rebuild']) }),
  output: z.object({
    slug: z.string(),
    url: z.string().optional(),
    until: z.string().optional(),
    deployment: z.string().optional(),
    status: z.string().optional().describe('Of the deployment: building, ready or failed'),
  }),
  run: async ({ doorstep, signal }, { website: named, action }) => {
    const { websites } = doorstep;
    const { id, slug } = await websites.findListed(named, { signal });
    if (action === 'preview') {
      const { url, expiresAt } = await websites.content.preview(id, { signal });
      return { text: `A draft of ${slug}, until ${expiresAt}: ${url}`, data: { slug, url, until: expiresAt } };
    }
    // Where nothing has changed it is the newest one, and where building is quick it has ended.
    const {
      id: deployment,
      status,
      error,
    } = await (action === 'publish' ? websites.content.publish(id, { signal }) : websites.redeploy(id, { signal }));
    return {
      text: {
        building: `${slug} is being built (${deployment}). website_status shows its address.`,
        ready: `The site of ${slug} is up to date (${deployment}).`,
        failed: `The build of ${slug} failed (${deployment}): its site shows what was before.`,
      }[status],
      quotes: { error },
      data: { slug, deployment, status },
    };
  },
});
