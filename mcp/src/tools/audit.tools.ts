import { z } from 'zod';
import { counted } from '../dates.js';
import { tool } from '../tool.js';
import { compact, WebsiteArgument } from '../views.js';

export const auditLog = tool({
  name: 'audit_log',
  title: 'Who did what, when',
  description: 'List changes by anybody, newest first, from the event log: of a website, by a person or process, in a time.',
  toolset: 'audit',
  operations: ['listAudit'],
  callers: ['admin'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({
    website: WebsiteArgument.optional(),
    actor: z.string().max(254).optional().describe('Address, subject, or process such as provisioning'),
    from: z.string().max(40).optional().describe('Day or timestamp'),
    to: z.string().max(40).optional(),
    limit: z.int().min(1).max(100).default(30),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        at: z.string(),
        type: z.string(),
        by: z.string(),
        via: z.string(),
        websiteId: z.string().optional(),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
    more: z.boolean(),
  }),
  run: async ({ doorstep, signal }, { website: named, actor, from, to, limit }) => {
    const website = named === undefined ? undefined : await doorstep.websites.findListed(named, { signal });
    const found = await doorstep.audit.list(
      { ...compact({ websiteId: website?.id, actor, from, to }), limit: limit + 1 },
      { signal },
    );
    const entries = found.slice(0, limit).map(({ at, type, actor: who, websiteId, data }) => ({
      at,
      type,
      by: who.name ?? who.subject,
      via: who.via,
      ...(websiteId !== undefined && { websiteId }),
      data,
    }));
    return {
      text: `${counted(entries.length, 'change')}${found.length > limit ? '; there are more: narrow the time, or raise the limit' : ''}.`,
      quotes: entries.length === 0 ? {} : { entries },
      data: { entries, more: found.length > limit },
    };
  },
});
