import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import {
  invoiceStatuses,
  subscriptionStatuses,
  type BillingAccount,
  type Ledger,
  type Payments,
} from '../../../integrations/payments/port.js';
import { entityId } from '../../../platform/ids.js';
import { utcTime } from '../../../platform/times.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { billingFold } from '../../../workers/transfer/transfer.process.js';
import { Currency, NonBlank } from '../../schemas.js';
import { route, type Route, type RouteTag } from '../../route.js';

const billingTag: RouteTag = { name: 'Billing', description: 'What the owner pays, as the payment provider reports it.' };
const Time = Type.String({ format: 'date-time' });

const Subscription = Type.Object(
  {
    id: Type.String(),
    status: Type.Enum([...subscriptionStatuses]),
    priceId: Type.Optional(Type.String()),
    createdAt: Time,
    currentPeriodEndsAt: Type.Optional(Time),
    canceledAt: Type.Optional(Time),
  },
  { $id: 'Subscription' },
);

const Invoice = Type.Object(
  {
    id: Type.String(),
    number: Type.Optional(Type.String({ description: 'As it is printed on the invoice.' })),
    status: Type.Enum([...invoiceStatuses]),
    total: Type.Integer({ description: 'In the smallest unit of the currency.' }),
    amountPaid: Type.Integer(),
    currency: Type.String({ description: 'ISO 4217, lower-case.' }),
    description: Type.Optional(Type.String()),
    createdAt: Time,
    dueAt: Type.Optional(Time),
    paidAt: Type.Optional(Time),
    url: Type.Optional(Type.String({ description: 'Where it can be viewed and paid.' })),
  },
  { $id: 'Invoice' },
);

export interface BillingRouteParts {
  readonly engine: Engine;
  readonly payments: Payments;
  /** Present with the embedded ledger. */
  readonly ledger?: Ledger;
  readonly baseUrl: () => string;
}

/** What the owner of a website pays, asked of the payment provider at each call. */
export const billingRoutes = (parts: BillingRouteParts): readonly Route[] => {
  const { engine, payments, ledger, baseUrl } = parts;

  /** Of the owner: what others paid before is theirs. */
  const accountOf = async ({ id: websiteId, clientId }: WebsiteDocument): Promise<BillingAccount | null> => {
    if (clientId === undefined) return null;
    const { state } = await engine.state(billingFold, { websiteId });
    const account = state.accounts.get(clientId);
    if (account?.provider !== payments.provider) return { websiteId, clientId };
    const { customerId, subscriptionId } = account;
    return { websiteId, clientId, customerId, subscriptionId };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/billing',
      operationId: 'getBilling',
      summary: "Read the owner's subscription and invoices",
      tag: billingTag,
      scope: 'website',
      access: 'adminOrOwner',
      answers: {
        200: {
          description: 'As the payment provider has it; without a subscription, the owner came to the website by assignment.',
          schema: Type.Object({
            subscription: Type.Union([Subscription, Type.Null()]),
            invoices: Type.Array(Invoice, { description: 'Newest first.' }),
          }),
        },
      },
      answer: async ({ website: { website } }) => {
        const account = await accountOf(website);
        return { body: account === null ? { subscription: null, invoices: [] } : await payments.readBilling(account) };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/billing/portal',
      operationId: 'openBillingPortal',
      summary: 'Get a link to the page on which the owner manages billing',
      tag: billingTag,
      scope: 'website',
      access: 'owner',
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
        const url = account === null ? null : await payments.portalLink(account, `${baseUrl()}/websites/${website.id}/billing`);
        if (url === null) throw new Refused(refusals.billingNotSetUp(website.id));
        return { body: { url } };
      },
    }),

    ...(ledger === undefined ? [] : ledgerRoutes(ledger, accountOf)),
  ];
};

/**
 * Invoices are written by hand in the embedded ledger alone; with another payment provider there
 * are no such routes.
 */
const ledgerRoutes = (
  ledger: Ledger,
  accountOf: (website: WebsiteDocument) => Promise<BillingAccount | null>,
): readonly Route[] => [
  route({
    method: 'post',
    path: '/websites/:id/billing/invoices',
    operationId: 'addInvoice',
    summary: 'Write an invoice to the owner into the embedded ledger',
    tag: billingTag,
    scope: 'website',
    access: 'admin',
    body: Type.Object(
      {
        total: Type.Integer({ minimum: 1, maximum: 99_999_999, description: 'In the smallest unit of the currency.' }),
        currency: Currency({ description: 'ISO 4217, lower-case.' }),
        description: NonBlank(500),
        dueAt: Type.Optional(Time),
      },
      { additionalProperties: false },
    ),
    refusals: ['no_owner'],
    answers: { 201: { description: 'The invoice.', schema: Invoice } },
    act: async ({ website: { website } }) => {
      const account = await accountOf(website);
      if (account === null) throw new Refused(refusals.noOwner(website.id));
      return account;
    },
    answer: async ({ body, context }, account) => {
      const dueAt = body.dueAt === undefined ? undefined : utcTime(body.dueAt);
      const invoice = { ...body, dueAt, id: entityId(context.commandId, 'invoice') };
      return { status: 201, body: await ledger.addInvoice(account, invoice) };
    },
  }),

  route({
    method: 'post',
    path: '/websites/:id/billing/invoices/:invoiceId/pay',
    operationId: 'payInvoice',
    summary: 'Mark an invoice of the embedded ledger as paid',
    tag: billingTag,
    scope: 'website',
    access: 'admin',
    refusals: ['invoice_not_found'],
    answers: { 200: { description: 'The invoice.', schema: Invoice } },
    act: async ({ params: { id: websiteId, invoiceId } }) => {
      if (!(await ledger.hasInvoice(websiteId, invoiceId))) throw new Refused(refusals.invoiceNotFound(invoiceId));
    },
    answer: async ({ params }) => ({ body: await ledger.payInvoice(params.invoiceId) }),
  }),
];
