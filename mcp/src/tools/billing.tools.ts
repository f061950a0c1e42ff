import type { Invoice } from '@doorstep/sdk';
import { z } from 'zod';
import { counted, dayOf } from '../dates.js';
import { tool } from '../tool.js';
import { compact, WebsiteArgument } from '../views.js';

const InvoiceView = z.object({
  id: z.string(),
  number: z.string().optional(),
  status: z.string(),
  total: z.number().describe('In the smallest unit of the currency'),
  currency: z.string(),
  created: z.string(),
  due: z.string().optional(),
  websiteId: z.string().optional(),
});

const toInvoiceView = ({
  id,
  number,
  status,
  total,
  currency,
  createdAt,
  dueAt,
  websiteId,
}: Invoice): z.input<typeof InvoiceView> =>
  compact({ id, number, status, total, currency, created: createdAt, due: dueAt, websiteId });

const inWords = ({ id, status, total, currency, dueAt }: Invoice): string =>
  `- ${id}: ${String(total)} ${currency} (smallest unit), ${status}${dueAt === undefined ? '' : `, due ${dayOf(dueAt)}`}`;

export const billingSummary = tool({
  name: 'billing_summary',
  title: 'Subscription and invoices',
  description:
    'Read the subscription and invoices of a website (admins and its owner), or without a website the newest invoices of all (admins), for example the open ones.',
  toolset: 'billing',
  operations: ['getBilling', 'listInvoices'],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: true,
  input: z.object({
    website: WebsiteArgument.optional(),
    status: z.enum(['open', 'paid', 'void', 'uncollectible']).optional().describe('Of invoices'),
    limit: z.int().min(1).max(200).default(50).describe('Of invoices'),
  }),
  output: z.object({
    subscription: z.object({ status: z.string(), periodEnds: z.string().optional() }).optional(),
    invoices: z.array(InvoiceView),
    more: z.boolean(),
  }),
  run: async ({ doorstep, signal }, { website: named, status, limit }) => {
    if (named === undefined) {
      const found: Invoice[] = [];
      // A page can be short, and yet have a next one.
      const query = { ...compact({ status }), limit: Math.min(limit + 1, 200) };
      for await (const invoice of doorstep.invoices.list(query, { signal })) {
        found.push(invoice);
        if (found.length > limit) break;
      }
      const invoices = found.slice(0, limit);
      const more = found.length > limit;
      return {
        text: [
          `${counted(invoices.length, 'invoice')}${more ? '; there are more: name a website or a status, or raise the limit' : ''}.`,
          ...invoices.map(inWords),
        ].join('\n'),
        data: { invoices: invoices.map(toInvoiceView), more },
      };
    }
    const { id, slug } = await doorstep.websites.findListed(named, { signal });
    const billing = await doorstep.websites.billing.get(id, { signal });
    const found = billing.invoices.filter((invoice) => status === undefined || invoice.status === status);
    const invoices = found.slice(0, limit);
    const more = found.length > limit;
    const { subscription } = billing;
    return {
      text: [
        `${slug}: ${subscription === null ? 'no subscription' : `subscription ${subscription.status}`}, ${counted(invoices.length, 'invoice')}${more ? '; there are more: name a status, or raise the limit' : ''}.`,
        ...invoices.map(inWords),
      ].join('\n'),
      data: {
        ...(subscription !== null && {
          subscription: compact({ status: subscription.status, periodEnds: subscription.currentPeriodEndsAt }),
        }),
        invoices: invoices.map(toInvoiceView),
        more,
      },
    };
  },
});
