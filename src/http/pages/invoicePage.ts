import type { Invoice, Ledger } from '../../integrations/payments/port.js';
import type { Brand } from '../../platform/brand.js';
import { html, Html } from '../../platform/html.js';
import { erased } from '../../platform/personal.js';
import { readClient } from '../../projections/client/client.queries.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import type { Reply } from '../reply.js';
import type { Frame } from './frame.js';

/** The page of an invoice, for whoever has its address. */
export type InvoicePage = (invoiceId: string, key: string) => Promise<Reply>;

/** @param frame puts the content into a page in the agency's name */
export const createInvoicePage = ({
  frame,
  brand,
  ledger,
  reader,
}: {
  readonly frame: Frame;
  readonly brand: Brand;
  readonly ledger: Ledger;
  readonly reader: Reader;
}): InvoicePage => {
  /** As an invoice names them: by their name, else by their address. */
  const payerOf = async ({ clientId }: Invoice): Promise<string> => {
    const { client } = (await readClient(reader, clientId)) ?? {};
    return client?.name ?? client?.email ?? erased;
  };

  return async (invoiceId, key) => {
    const invoice = await ledger.openInvoice(invoiceId, key);
    if (invoice === null) return frame({ status: 404, title: 'Not found', content: notFound });
    const { number = '', description = '', websiteId, createdAt } = invoice;
    const website = (await reader.read(websiteProjection, websiteId)).document;
    const lines: readonly (readonly [string, string])[] = [
      ['For', description],
      ...(website === null ? [] : [['Website', website.name] as const]),
      ['To', await payerOf(invoice)],
      ['From', brand.name],
      ['Date', day(createdAt)],
    ];
    return frame({
      title: `Invoice ${number}`,
      content: html`<article class="invoice">
        <h1>Invoice ${number}</h1>
        <p class="amount">${amountOf(invoice)}</p>
        <p class="${invoice.status === 'open' ? 'state' : 'state quiet'}">${stateOf(invoice)}</p>
        <dl>
          ${lines.map(
            ([term, text]) =>
              html`<dt>${term}</dt>
                <dd>${text}</dd>`,
          )}
        </dl>
        <p class="aside screen">Print this page to keep the invoice. With questions, turn to ${brand.name}.</p>
      </article>`,
    });
  };
};

/** Part of the style sheet of all pages. */
export const invoiceStyle = `
.amount { margin: 0; font-size: 34px; font-weight: 650; font-variant-numeric: tabular-nums; }
.state { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 10px 24px; margin: 24px 0 0; padding-top: 20px; border-top: 1px solid var(--line); }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
@media print {
  :root { color-scheme: light; --ground: #fff; --surface: #fff; --text: #000; --muted: #333; --line: #999; }
  body { display: block; min-height: 0; padding: 0; }
  .card { width: auto; padding: 0; border: 0; box-shadow: none; }
  .screen { display: none; }
}
`;

const notFound = new Html(
  '<h1>There is no such invoice</h1><p>The link is not complete. Copy the whole link, or ask for it again.</p>',
);

/** As people write it, such as 1 December 2026. */
const day = (time: string): string =>
  new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** As people write it, such as €49.00. */
const amountOf = ({ total, currency }: Invoice): string => {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  return format.format(total / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};

const stateOf = ({ status, dueAt, paidAt, voidedAt }: Invoice): string => {
  if (status === 'paid') return `Paid${paidAt === undefined ? '' : ` on ${day(paidAt)}`}. Thank you.`;
  if (status === 'void') return `Void${voidedAt === undefined ? '' : ` since ${day(voidedAt)}`}: nothing is to be paid.`;
  return dueAt === undefined ? 'To be paid.' : `To be paid by ${day(dueAt)}.`;
};
