import { Type } from 'typebox';
import { invoiceDecider } from '../../../commands/billing/invoice.decider.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { clientFold } from '../../../events/client/client.state.js';
import {
  InvoicePlaceGone,
  invoiceSorts,
  invoiceStatuses,
  subscriptionStatuses,
  type BillingAccount,
  type Invoice,
  type InvoicePage,
  type InvoiceQuery,
  type Ledger,
  type Payments,
} from '../../../integrations/payments/port.js';
import { entityId } from '../../../platform/ids.js';
import { erased } from '../../../platform/personal.js';
import { utcTime } from '../../../platform/times.js';
import { recordedSubscriptions } from '../../../projections/billing/billing.queries.js';
import { readClient } from '../../../projections/client/client.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { billingFold } from '../../../events/billing/billing.state.js';
import { readNamed, totalOf } from '../../paging.js';
import { Currency, NonBlank } from '../../schemas.js';
import { route, type Answer, type Route, type RouteTag } from '../../route.js';
import { Invoice as InvoiceSchema } from './billing.resource.js';
import { invoiceCursor, invoicePlaceIn } from './invoiceCursor.js';

const billingTag: RouteTag = { name: 'Billing', description: 'What the owner pays, as the payment provider reports it.' };
const Time = Type.String({ format: 'date-time' });

const Subscription = Type.Object(
  {
    id: Type.String({ description: 'As the payment provider names it.', examples: ['subscription-1'] }),
    status: Type.Enum([...subscriptionStatuses]),
    priceId: Type.Optional(Type.String()),
    createdAt: Time,
    currentPeriodEndsAt: Type.Optional(Time),
    canceledAt: Type.Optional(Time),
  },
  { $id: 'Subscription', description: 'What the owner pays for regularly.' },
);

/** A website that is billed every month has as many in forty years. */
const MAX_INVOICES = 500;

export interface BillingRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly payments: Payments;
  /** Present with the embedded ledger. */
  readonly ledger?: Ledger;
  readonly baseUrl: () => string;
}

/** What the owner of a website pays, asked of the payment provider at each call. */
export const billingRoutes = (parts: BillingRouteParts): readonly Route[] => {
  const { engine, reader, payments, ledger, baseUrl } = parts;
  const { provider } = payments;

  const accountOf = async ({ id: websiteId, clientId }: WebsiteDocument): Promise<BillingAccount | null> => {
    if (clientId === undefined) return null;
    const { state } = await engine.state(billingFold, { websiteId });
    const account = state.accounts.get(clientId);
    // The customer of a subscription that a claim did not attach is somebody else's.
    const isTheirs = account?.provider === provider && (account.existing === undefined || account.stage === 'attached');
    return { websiteId, clientId, ...(isTheirs && { customerId: account.customerId }) };
  };

  /** The website's subscriptions, newest first: of everybody who owned it, or of one client. */
  const subscriptionsOf = async ({ id: websiteId, clientId: ownerId }: WebsiteDocument, clientId: string | undefined) => {
    const { state } = await engine.state(billingFold, { websiteId });
    const recorded = await recordedSubscriptions(reader, { provider, websiteId, clientId });
    const found = await payments.readSubscriptions(recorded);
    const account = ownerId === undefined ? undefined : state.accounts.get(ownerId);
    const isCurrent = ({ id }: { readonly id: string }): boolean =>
      account?.stage === 'attached' && account.subscriptionId === id;
    return { subscription: found.find(isCurrent) ?? null, previous: found.filter((one) => !isCurrent(one)) };
  };

  const requireInvoice = async (websiteId: string, invoiceId: string): Promise<Invoice> => {
    const subscriptions = () => recordedSubscriptions(reader, { provider, websiteId });
    const [invoice] = await payments.readInvoices([invoiceId], { websiteId, subscriptions });
    if (invoice === undefined) throw new Refused(refusals.invoiceNotFound(invoiceId));
    return invoice;
  };

  /** After a write: what an invoice says is its client's, and is gone with them, whatever the payment provider keeps. */
  const toWritten: ToWritten = async (invoice) => {
    const { clientId, description } = invoice;
    if (description === undefined) return { body: invoice };
    const found = await readClient(reader, clientId);
    const text =
      found === null ? description : await engine.personal.encrypt(found.client.email, description, { makeKey: false });
    // Without a key they were erased meanwhile.
    return text === description ? { body: { ...invoice, description: erased } } : { body: invoice, people: [text] };
  };

  const listPage = async (query: InvoiceQuery): Promise<InvoicePage> => {
    try {
      return await payments.listInvoices(query);
    } catch (error) {
      if (!(error instanceof InvoicePlaceGone)) throw error;
      throw new Refused(
        refusals.invalidQuery('cursor', 'begins after an invoice that was deleted; read the list from its start'),
      );
    }
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/billing',
      operationId: 'getBilling',
      summary: "Read the owner's subscription and invoices",
      description:
        'Asked of the payment provider at each call. Admins see all that was ever billed for the website, the owner what is theirs.',
      tag: billingTag,
      scope: 'website',
      access: 'adminOrOwner',
      asksProvider: true,
      answers: {
        200: {
          description:
            'As the payment provider has it now. Admins see all that was ever billed for the website; an owner sees their own.',
          schema: Type.Object(
            {
              subscription: Type.Union([Subscription, Type.Null()], {
                description: "The owner's; `null`: nothing is charged, as for an owner who was set by hand.",
              }),
              previousSubscriptions: Type.Optional(
                Type.Array(Subscription, { description: 'Those before, newest first, if there were any.' }),
              ),
              invoices: Type.Array(InvoiceSchema, { description: 'Newest first, the last 500.' }),
            },
            { $id: 'Billing', description: 'What is paid for a website.' },
          ),
        },
      },
      answer: async ({ website: { website, standing } }) => {
        const { id: websiteId, clientId: ownerId } = website;
        const clientId = standing === 'admin' ? undefined : ownerId;
        const subscriptions = () => recordedSubscriptions(reader, { provider, websiteId, clientId });
        const [{ subscription, previous }, { items }] = await Promise.all([
          subscriptionsOf(website, clientId),
          payments.listInvoices({ websiteId, clientId, sort: '-createdAt', limit: MAX_INVOICES, subscriptions }),
        ]);
        return { body: { subscription, ...(previous.length > 0 && { previousSubscriptions: previous }), invoices: items } };
      },
    }),

    route({
      method: 'get',
      path: '/invoices',
      operationId: 'listInvoices',
      summary: 'List the invoices of all websites, or read some by their ids',
      description:
        'Asked of the payment provider at each call. `count` is for the embedded ledger: other payment providers do not say how many there are, and it is refused.',
      tag: billingTag,
      scope: 'installation',
      access: 'admin',
      asksProvider: true,
      paging: { sort: ['createdAt', 'dueAt'], count: true, ids: true },
      query: Type.Object({
        status: Type.Optional(Type.Enum([...invoiceStatuses])),
        clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Whom they are for.' })),
        websiteId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      }),
      answers: {
        200: {
          description:
            'A page of invoices, asked of the payment provider; it can be short, also when there is a next one. ' +
            'Sorted by `dueAt`, those without a due date come last.',
          schema: Type.Array(InvoiceSchema),
        },
      },
      answer: async ({ query }) => {
        const { status, clientId, websiteId, limit = 50, cursor } = query;
        const ids = await readNamed(query, (id) => Promise.resolve(id));
        if (ids !== null) {
          const invoices = await payments.readInvoices(ids, { subscriptions: () => recordedSubscriptions(reader, { provider }) });
          return { body: invoices, total: await totalOf(query, () => invoices.length) };
        }
        const total = await totalOf(query, () => {
          if (ledger !== undefined) return ledger.countInvoices({ status, clientId, websiteId });
          throw new Refused(refusals.invalidQuery('count', `invoices in ${provider} cannot be counted`));
        });
        const sort = invoiceSorts.find((one) => one === query.sort) ?? '-createdAt';
        const after = cursor === undefined ? undefined : invoicePlaceIn(sort, cursor);
        const subscriptions = () => recordedSubscriptions(reader, { provider, websiteId, clientId });
        const page = await listPage({ status, clientId, websiteId, sort, limit, after, subscriptions });
        return { body: page.items, ...(page.next !== undefined && { next: invoiceCursor(sort, page.next) }), total };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/billing/invoices/:invoiceId',
      operationId: 'getInvoice',
      summary: 'Read an invoice of a website',
      description: 'Asked of the payment provider at each call. An owner reads those that are theirs.',
      tag: billingTag,
      scope: 'website',
      access: 'adminOrOwner',
      asksProvider: true,
      refusals: ['invoice_not_found'],
      answers: { 200: { description: 'The invoice, as the payment provider has it now.', schema: InvoiceSchema } },
      answer: async ({ params: { id: websiteId, invoiceId }, website: { website, standing } }) => {
        const body = await requireInvoice(websiteId, invoiceId);
        if (standing !== 'admin' && body.clientId !== website.clientId) throw new Refused(refusals.invoiceNotFound(invoiceId));
        return { body };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/billing/invoices/:invoiceId/void',
      operationId: 'voidInvoice',
      summary: 'Void an invoice that was not paid',
      description: 'In the embedded ledger, or at the payment provider. A void invoice is owed no more; one that is paid stays.',
      tag: billingTag,
      scope: 'website',
      access: 'admin',
      asksProvider: true,
      refusals: ['invoice_not_found', 'invoice_settled'],
      answers: { 200: { description: 'The invoice. Nothing is to be paid for it any more.', schema: InvoiceSchema } },
      act: async ({ params: { id: websiteId, invoiceId }, context }, acting) => {
        const invoice = await requireInvoice(websiteId, invoiceId);
        const { clientId, status } = invoice;
        const ofInvoice = { websiteId, invoiceId, clientId, status };
        await acting.handle(invoiceDecider, { type: 'VoidInvoice', ...ofInvoice, isRequest: ledger === undefined }, context);
        return invoice;
      },
      answer: async (_, invoice) => {
        const body = await payments.voidInvoice(invoice);
        if (body.status !== 'void') throw new Refused(refusals.invoiceSettled(body.id, body.status));
        return toWritten(body);
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/billing/portal',
      operationId: 'openBillingPortal',
      summary: 'Get a link to the page on which the owner manages billing',
      description: 'The link is for the caller alone and works for a short while.',
      tag: billingTag,
      scope: 'website',
      access: 'owner',
      asksProvider: true,
      whenArchived: 'allowed',
      refusals: ['billing_not_set_up'],
      answers: {
        200: {
          description: 'For the caller alone, and for a short while.',
          schema: Type.Object({ url: Type.String({ format: 'uri' }) }),
        },
      },
      answer: async ({ website: { website } }) => {
        const account = await accountOf(website);
        const url =
          account === null ? null : await payments.portalLink(account, `${baseUrl()}/app/websites/${website.id}/billing`);
        if (url === null) throw new Refused(refusals.billingNotSetUp(website.id));
        return { body: { url } };
      },
    }),

    ...(ledger === undefined ? [] : ledgerRoutes(ledger, { reader, accountOf, requireInvoice, toWritten })),
  ];
};

type ToWritten = (invoice: Invoice) => Promise<Answer>;

/**
 * Invoices are written by hand in the embedded ledger alone; with another payment provider there
 * are no such routes.
 */
const ledgerRoutes = (
  ledger: Ledger,
  {
    reader,
    accountOf,
    requireInvoice,
    toWritten,
  }: {
    reader: Reader;
    accountOf: (website: WebsiteDocument) => Promise<BillingAccount | null>;
    requireInvoice: (websiteId: string, invoiceId: string) => Promise<Invoice>;
    toWritten: ToWritten;
  },
): readonly Route[] => [
  route({
    method: 'post',
    path: '/websites/:id/billing/invoices',
    operationId: 'addInvoice',
    summary: 'Write an invoice to the owner into the embedded ledger',
    description: 'Only with the embedded ledger; other payment providers write their invoices themselves.',
    tag: billingTag,
    scope: 'website',
    access: 'admin',
    faults: ['provider_unavailable'],
    body: Type.Object(
      {
        total: Type.Integer({ minimum: 1, maximum: 99_999_999, description: 'In the smallest unit of the currency.' }),
        currency: Currency({ description: 'ISO 4217, in either case; answered in lower case.' }),
        description: NonBlank(500),
        dueAt: Type.Optional(Time),
      },
      { additionalProperties: false },
    ),
    refusals: ['no_owner'],
    answers: { 201: { description: 'The invoice.', schema: InvoiceSchema } },
    act: async ({ website: { website }, body, context }, acting) => {
      const account = await accountOf(website);
      const owner = account === null ? null : await readClient(reader, account.clientId);
      if (account === null || owner === null) throw new Refused(refusals.noOwner(website.id));
      const { websiteId, clientId } = account;
      const dueAt = body.dueAt === undefined ? undefined : utcTime(body.dueAt);
      const description = await acting.personal.encrypt(owner.client.email, body.description);
      // Read after the encryption: if they were erased meanwhile, it may have made a key that nobody destroys.
      const { state } = await acting.state(clientFold, { clientId });
      if (state.stage === 'erased') throw new Refused(refusals.noOwner(websiteId));
      const invoice = { ...body, currency: body.currency.toLowerCase(), description, dueAt };
      const invoiceId = entityId(context.commandId, 'invoice');
      const command = { type: 'IssueInvoice', websiteId, clientId, invoiceId, ...invoice } as const;
      await acting.handle(invoiceDecider, command, context);
      return { account, invoice: { ...invoice, id: invoiceId } };
    },
    answer: async (_, { account, invoice }) => ({ status: 201, ...(await toWritten(await ledger.addInvoice(account, invoice))) }),
  }),

  route({
    method: 'post',
    path: '/websites/:id/billing/invoices/:invoiceId/pay',
    operationId: 'payInvoice',
    summary: 'Mark an invoice of the embedded ledger as paid',
    description: 'Only with the embedded ledger. Paying again changes nothing.',
    tag: billingTag,
    scope: 'website',
    access: 'admin',
    faults: ['provider_unavailable'],
    refusals: ['invoice_not_found', 'invoice_settled'],
    answers: { 200: { description: 'The invoice.', schema: InvoiceSchema } },
    act: async ({ params: { id: websiteId, invoiceId }, context }, acting) => {
      const { clientId, status } = await requireInvoice(websiteId, invoiceId);
      await acting.handle(invoiceDecider, { type: 'PayInvoice', websiteId, invoiceId, clientId, status }, context);
    },
    answer: async ({ params: { invoiceId } }) => {
      const body = await ledger.payInvoice(invoiceId);
      if (body.status !== 'paid') throw new Refused(refusals.invoiceSettled(invoiceId, body.status));
      return toWritten(body);
    },
  }),
];
