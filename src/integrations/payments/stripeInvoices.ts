import { ProviderFault } from '../fault.js';
import { comparePlaces, placeOf } from './invoiceOrder.js';
import type { Invoice, InvoicePage, InvoiceQuery, Payments, RecordedSubscription } from './port.js';
import { provider, subscriptionOf, toInvoice, type StripeInvoice } from './stripeObjects.js';

/** Invoices at Stripe, newest first, as far as the filter lets them. */
export type ListStripeInvoices = (filter: {
  readonly subscription?: string;
  readonly customer?: string;
  readonly status?: Invoice['status'] | undefined;
  /** Only invoices after this one. */
  readonly after?: string | undefined;
}) => AsyncIterable<StripeInvoice>;

/** Up to so many subscriptions are asked for one by one; of more, the account's invoices are searched. */
const MAX_LISTS = 12;
/** How many invoices of the account are looked at for one page. */
const MAX_SEARCHED = 1_000;
/** How many are read by their ids at once: Stripe takes some 25 requests of a kind in a second. */
const READ_AT_ONCE = 5;
/** How many are sorted by anything but their creation. */
const MAX_SORTED = 5_000;

/**
 * Invoices belong to the website and the client whose subscription they are for: an account at
 * Stripe may have any number of others.
 */
export const createStripeInvoices = (
  list: ListStripeInvoices,
  sendVoid: (invoiceId: string) => Promise<StripeInvoice>,
  read: (invoiceId: string) => Promise<StripeInvoice | null>,
): Pick<Payments, 'listInvoices' | 'readInvoices' | 'voidInvoice'> => {
  const ofSubscriptions = async (
    subscriptions: readonly RecordedSubscription[],
    status: Invoice['status'] | undefined,
  ): Promise<readonly Invoice[]> => {
    const lists = subscriptions.map(async (of) => {
      const found: Invoice[] = [];
      for await (const invoice of list({ subscription: of.id, status })) found.push(...toInvoice(invoice, of));
      return found;
    });
    return (await Promise.all(lists)).flat();
  };

  /** Those of these subscriptions among all of the account, or of the one customer that they are of. */
  async function* search(
    subscriptions: readonly RecordedSubscription[],
    { status, after }: Pick<InvoiceQuery, 'status' | 'after'>,
  ): AsyncGenerator<{ readonly looked: StripeInvoice; readonly found: readonly Invoice[] }> {
    const byId = new Map(subscriptions.map((of) => [of.id, of]));
    const [customer, ...others] = new Set(subscriptions.map(({ customerId }) => customerId));
    const narrowed = others.length === 0 && customer !== undefined ? { customer } : {};
    for await (const looked of list({ ...narrowed, status, after: after?.id })) {
      const of = byId.get(subscriptionOf(looked) ?? '');
      yield { looked, found: of === undefined ? [] : toInvoice(looked, of) };
    }
  }

  const pageFrom = (invoices: readonly Invoice[], { sort, after, limit }: InvoiceQuery): InvoicePage => {
    const sorted = invoices
      .filter((invoice) => after === undefined || comparePlaces(sort, after, placeOf(sort, invoice)) < 0)
      .toSorted((one, other) => comparePlaces(sort, placeOf(sort, one), placeOf(sort, other)));
    const items = sorted.slice(0, limit);
    const last = items.at(-1);
    return { items, ...(sorted.length > limit && last !== undefined && { next: placeOf(sort, last) }) };
  };

  const searchNewest = async (subscriptions: readonly RecordedSubscription[], query: InvoiceQuery): Promise<InvoicePage> => {
    const { sort, limit } = query;
    const items: Invoice[] = [];
    let searched = 0;
    for await (const { looked, found } of search(subscriptions, query)) {
      const last = items.at(-1);
      if (found.length > 0 && items.length === limit && last !== undefined) return { items, next: placeOf(sort, last) };
      items.push(...found);
      searched += 1;
      if (searched === MAX_SEARCHED) return { items, next: { time: looked.created * 1_000, id: looked.id } };
    }
    return { items };
  };

  const searchAll = async (subscriptions: readonly RecordedSubscription[], query: InvoiceQuery): Promise<readonly Invoice[]> => {
    const { status } = query;
    const invoices: Invoice[] = [];
    let searched = 0;
    for await (const { found } of search(subscriptions, { status })) {
      invoices.push(...found);
      searched += 1;
      if (searched > MAX_SORTED) {
        const message = 'stripe has too many invoices to sort; narrow them by websiteId or clientId';
        throw new ProviderFault({ provider, message, transient: false });
      }
    }
    return invoices;
  };

  return {
    listInvoices: async (query) => {
      const subscriptions = await query.subscriptions();
      if (subscriptions.length <= MAX_LISTS) return pageFrom(await ofSubscriptions(subscriptions, query.status), query);
      if (query.sort === '-createdAt') return searchNewest(subscriptions, query);
      return pageFrom(await searchAll(subscriptions, query), query);
    },
    readInvoices: async (ids, { subscriptions }) => {
      const known = new Map((await subscriptions()).map((of) => [of.id, of]));
      const readOne = async (id: string): Promise<readonly Invoice[]> => {
        const invoice = await read(id);
        const of = invoice === null ? undefined : known.get(subscriptionOf(invoice) ?? '');
        return invoice === null || of === undefined ? [] : toInvoice(invoice, of);
      };
      const found: Invoice[] = [];
      for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
        found.push(...(await Promise.all(ids.slice(start, start + READ_AT_ONCE).map(readOne))).flat());
      }
      return found;
    },
    voidInvoice: async (invoice) => {
      const current = async (): Promise<Invoice> => {
        const found = await read(invoice.id);
        return (found === null ? [] : toInvoice(found, invoice))[0] ?? invoice;
      };
      const before = await current();
      if (before.status !== 'open' && before.status !== 'uncollectible') return before;
      try {
        return toInvoice(await sendVoid(invoice.id), invoice)[0] ?? before;
      } catch (error) {
        // It may have been paid, or voided, since it was read.
        const after = error instanceof ProviderFault && !error.transient ? await current() : before;
        if (after.status === before.status) throw error;
        return after;
      }
    },
  };
};
