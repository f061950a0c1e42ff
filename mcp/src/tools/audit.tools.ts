import { z } from 'zod';
import { counted } from '../dates.js';
import { tool } from '../tool.js';
import { compact, fitting, WebsiteArgument } from '../views.js';

/** In characters of JSON: a document that was saved is longer, and is not what a log is asked for. */
const longestField = 1_000;

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
        omitted: z.array(z.string()).optional().describe('Fields of data that are too long'),
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
    const listed = found.slice(0, limit).map(({ at, type, actor: who, websiteId, data, omitted = [] }) => {
      const isLong = ([, value]: readonly [string, unknown]): boolean => JSON.stringify(value).length > longestField;
      const left = [
        ...omitted,
        ...Object.entries(data)
          .filter(isLong)
          .map(([field]) => field),
      ];
      return {
        at,
        type,
        by: who.name ?? who.subject,
        via: who.via,
        ...(websiteId !== undefined && { websiteId }),
        data: Object.fromEntries(Object.entries(data).filter((field) => !isLong(field))),
        ...(left.length > 0 && { omitted: left }),
      };
    });
    const entries = fitting(listed);
    const more = found.length > entries.length;
    const how = entries.length < listed.length ? 'narrow the time' : 'narrow the time, or raise the limit';
    return {
      text: `${counted(entries.length, 'change')}${more ? `; there are more: ${how}` : ''}.`,
      quotes: entries.length === 0 ? {} : { entries },
      data: { entries, more },
    };
  },
});
