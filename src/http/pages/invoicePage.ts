import type { Invoice, Ledger } from '../../integrations/payments/port.js';
import type { Brand } from '../../platform/brand.js';
import { html } from '../../platform/html.js';
import { moneyText } from '../../platform/money.js';
import { erased } from '../../platform/personal.js';
import { dayIn, fill, textsOf, type Language, type Texts } from '../../platform/texts/texts.js';
import { readClient } from '../../projections/client/client.queries.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import type { Reply } from '../reply.js';
import type { Frame } from './frame.js';

/** The page of an invoice, for whoever has its address. */
export type InvoicePage = (invoiceId: string, key: string, language: Language) => Promise<Reply>;

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

  return async (invoiceId, key, language) => {
    const texts = textsOf(language);
    const { invoice: words } = texts;
    const invoice = await ledger.openInvoice(invoiceId, key);
    if (invoice === null) {
      const content = html`<h1>${words.missingTitle}</h1>
        <p>${words.missing}</p>`;
      return frame({ language, status: 404, title: words.missingTitle, content });
    }
    const { number = '', description = '', websiteId, createdAt } = invoice;
    const website = (await reader.read(websiteProjection, websiteId)).document;
    const lines: readonly (readonly [string, string])[] = [
      [words.purpose, description],
      ...(website === null ? [] : [[words.website, website.name] as const]),
      [words.to, await payerOf(invoice)],
      [words.from, brand.name],
      [words.date, dayIn(texts, createdAt)],
    ];
    const title = fill(words.title, { number });
    return frame({
      language,
      title,
      content: html`<article class="invoice">
        <h1>${title}</h1>
        <p class="amount">${moneyText(invoice.total, invoice.currency, texts.locale)}</p>
        <p class="${invoice.status === 'open' ? 'state' : 'state quiet'}">${stateOf(invoice, texts)}</p>
        <dl>
          ${lines.map(
            ([term, text]) =>
              html`<dt>${term}</dt>
                <dd>${text}</dd>`,
          )}
        </dl>
        <p class="aside screen">${fill(words.keep, { brand: brand.name })}</p>
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
dl + .aside { margin: 20px 0 0; }
@media print {
  :root { color-scheme: light; --ground: #fff; --surface: #fff; --text: #000; --muted: #333; --line: #999; }
  body { display: block; place-items: normal; min-height: 0; padding: 0; }
  .card { width: auto; padding: 0; border: 0; box-shadow: none; }
  .screen { display: none; }
}
`;

const stateOf = ({ status, dueAt, paidAt, voidedAt }: Invoice, texts: Texts): string => {
  const { invoice: words } = texts;
  const dated = (time: string | undefined, withDay: string, without: string): string =>
    time === undefined ? without : fill(withDay, { day: dayIn(texts, time) });
  if (status === 'paid') return dated(paidAt, words.paidOn, words.paid);
  if (status === 'void') return dated(voidedAt, words.voidSince, words.void);
  return dated(dueAt, words.openUntil, words.open);
};
