import { argument, choice, command, defined, number, required, text, website, type Command } from '../command.js';
import { at, change, listing, readList } from './shared.js';

/** As many as the service answers beside the subscription. */
const maxShown = 500;

/** Commands on what a website costs: the subscription and the invoices. */
export const billingCommands: readonly Command[] = [
  command({
    name: 'billing show',
    summary: 'Show the subscription and the invoices of a website',
    examples: [['As the payment provider says now', 'billing show corner-bakery']],
    operations: ['getBilling'],
    arguments: { website },
    run: async (context, args) => {
      const { billingLines } = await import('../views/reports.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const billing = await doorstep.websites.billing.get(found.id);
      await context.output.view(
        billing,
        () => billingLines(found.name, billing, drawingFor(context.output)),
        () => [
          ['subscription', billing.subscription?.id, billing.subscription?.status],
          ...billing.invoices.map(({ id, status, total, currency, createdAt }) => [
            'invoice',
            id,
            status,
            total,
            currency,
            createdAt,
          ]),
        ],
      );
      if (billing.invoices.length >= maxShown) {
        // An owner, whose website says by which way it is theirs, may not list invoices.
        const all = found.via === undefined ? ` All of them: doorstep invoices list --website ${found.slug} --all` : '';
        context.output.note(`These are the last ${String(maxShown)}.${all}`);
      }
    },
  }),
  command({
    name: 'billing portal',
    summary: 'Print an address where you, as the owner, manage the subscription',
    examples: [['The address', 'billing portal corner-bakery']],
    operations: ['openBillingPortal'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.billing.openPortal(found.id, options),
        ({ url }) => ({ said: `The subscription of ${found.name} is managed at ${url}`, value: url }),
        () => [`Would make an address where the subscription of ${found.name} is managed.`],
      );
    },
  }),
  command({
    name: 'invoices list',
    summary: 'List invoices',
    examples: [
      ['Those that are open', 'invoices list --status open'],
      ['Those of a website', 'invoices list --website corner-bakery'],
    ],
    operations: ['listInvoices'],
    options: {
      status: choice(['open', 'paid', 'uncollectible', 'void'], 'Only those of this status'),
      website: text('Only those of this website', { placeholder: 'website', completes: 'website' }),
      client: text('Only those of this client: an id or an address', { placeholder: 'client' }),
      sort: text('By createdAt or dueAt; -dueAt is the other way round', { placeholder: 'field' }),
      ...listing,
    },
    run: async (context, _args, options) => {
      const { dayClock, money, shortDay } = await import('../views/words.js');
      const { clientIdOf, findWebsite } = await import('./shared.js');
      const doorstep = await context.doorstep();
      const filter = defined({
        status: options.status,
        websiteId: options.website === undefined ? undefined : (await findWebsite(context, options.website)).id,
        clientId: options.client === undefined ? undefined : await clientIdOf(doorstep, options.client),
        sort: options.sort as 'dueAt' | undefined,
      });
      const invoices = await readList(context, (page) => doorstep.invoices.list({ ...filter, ...page }), options);
      const clock = { now: Date.now() };
      await context.output.list(
        invoices,
        [
          { heading: 'number', value: ({ number: one, id }) => one ?? id },
          {
            heading: 'status',
            value: ({ status }) => status,
            style: (shown, style, { status }) =>
              status === 'paid' ? style.green(shown) : status === 'open' ? style.yellow(shown) : style.dim(shown),
          },
          {
            heading: 'total',
            value: ({ total, currency }) => `${String(total)} ${currency}`,
            shown: ({ total, currency }) => money(total, currency),
            right: true,
            whole: true,
          },
          { heading: 'for', value: ({ description }) => description },
          {
            heading: 'made',
            value: ({ createdAt }) => createdAt,
            shown: ({ createdAt }) => shortDay(createdAt, clock),
            spare: true,
          },
          {
            heading: 'due',
            value: ({ dueAt }) => dueAt,
            shown: ({ dueAt }) => (dueAt === undefined ? '' : shortDay(dueAt, dayClock(clock))),
          },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), whole: true },
        ],
        'No invoices.',
      );
    },
  }),
  command({
    name: 'invoices get',
    summary: 'Show an invoice of a website',
    examples: [['By its id', 'invoices get corner-bakery <id>']],
    operations: ['getInvoice'],
    arguments: { website, invoice: argument('Id of the invoice', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { invoiceLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await doorstep.websites.invoices.get(found.id, args.invoice);
      await context.output.resource(one, invoiceLines(one));
    },
  }),
  command({
    name: 'invoices create',
    summary: 'Add an invoice to the embedded ledger',
    examples: [['Of 49 euros', 'invoices create corner-bakery --total 4900 --currency eur --description "December"']],
    operations: ['addInvoice'],
    write: true,
    arguments: { website },
    options: {
      total: required(number('In the smallest unit of the currency: cents')),
      currency: required(text('Three letters, such as eur')),
      description: required(text('What it is for')),
      due: text('When it is due', { placeholder: 'date' }),
    },
    run: async (context, args, { total, currency, description, due }) => {
      const { readOwnDate } = await import('../dates.js');
      const { money } = await import('../views/words.js');
      const { clean } = await import('../output.js');
      const { doorstep, website: found } = await at(context, args.website);
      const body = defined({
        total,
        currency,
        description,
        dueAt: due === undefined ? undefined : readOwnDate(due, { now: Date.now() }, 'future'),
      });
      await change(
        context,
        (options) => doorstep.websites.invoices.create(found.id, body, options),
        (invoice) => ({ said: `An invoice of ${money(invoice.total, invoice.currency)} is made.`, value: invoice.id }),
        () => [`Would make an invoice of ${money(total, currency)} for ${found.name}: ${clean(description)}`],
      );
    },
  }),
  ...(['pay', 'void'] as const).map((verb) =>
    command({
      name: `invoices ${verb}`,
      summary: verb === 'pay' ? 'Note that an invoice of the embedded ledger is paid' : 'Void an invoice that was not paid',
      examples: [['By its id', `invoices ${verb} corner-bakery <id>`]],
      operations: [verb === 'pay' ? 'payInvoice' : 'voidInvoice'],
      write: true,
      destructive: true,
      arguments: { website, invoice: argument('Id of the invoice', { placeholder: 'id' }) },
      run: async (context, args) => {
        const { doorstep, website: found } = await at(context, args.website);
        await context.confirm(verb === 'pay' ? `Note the invoice ${args.invoice} as paid?` : `Void the invoice ${args.invoice}?`);
        await change(
          context,
          (options) => doorstep.websites.invoices[verb](found.id, args.invoice, options),
          ({ id, status }) => ({ said: `The invoice is ${status}.`, value: id }),
          () => [verb === 'pay' ? `Would note the invoice ${args.invoice} as paid.` : `Would void the invoice ${args.invoice}.`],
        );
      },
    }),
  ),
];
