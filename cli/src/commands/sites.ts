import {
  argument,
  choice,
  command,
  defined,
  list,
  number,
  required,
  text,
  UsageError,
  website,
  type Command,
} from '../command.js';
import { at, change, listing, readJson, readList } from './shared.js';

const domain = argument('The domain', { placeholder: 'domain' });

const readTime = (given: string): string => {
  const time = Date.parse(given);
  if (Number.isNaN(time))
    throw new UsageError(`"${given}" is not a time. Write it like 2026-12-01T10:00, in your time zone, or with a zone`);
  return new Date(time).toISOString();
};

const readNumber = (given: string): number => {
  if (!/^\d+$/.test(given)) throw new UsageError(`"${given}" is not a whole number`);
  return Number(given);
};

/** Commands on what belongs to a site: domains, bookings, services, deployments, reports. */
export const siteCommands: readonly Command[] = [
  command({
    name: 'domains list',
    summary: 'List the domains of a website',
    examples: [['With how they stand', 'domains list corner-bakery']],
    operations: ['listDomains'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { doorstep, website: found } = await at(context, args.website);
      const domains = await readList(context, (page) => doorstep.websites.domains.list(found.id, page), options);
      await context.output.list(
        domains,
        [
          { heading: 'domain', value: (one) => one.domain },
          {
            heading: 'status',
            value: ({ status }) => status,
            style: (shown, style, { status }) => (status === 'verified' ? style.green(shown) : style.yellow(shown)),
          },
          { heading: 'problem', value: ({ problem }) => problem },
        ],
        'No domains of its own.',
      );
    },
  }),
  command({
    name: 'domains get',
    summary: 'Show a domain, with the DNS records that it needs',
    examples: [['Which records are missing?', 'domains get corner-bakery bakery.example']],
    operations: ['getDomain'],
    arguments: { website, domain },
    run: async (context, args) => {
      const { domainLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await doorstep.websites.domains.get(found.id, args.domain);
      await context.output.resource(one, domainLines(one));
    },
  }),
  command({
    name: 'domains add',
    summary: 'Give a website a domain of its own',
    examples: [['Print the DNS records to make', 'domains add corner-bakery bakery.example']],
    operations: ['addDomain'],
    write: true,
    arguments: { website, domain },
    run: async (context, args) => {
      const { domainLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const added = await context.write((options) => doorstep.websites.domains.add(found.id, args.domain, options));
      if (context.globals.dryRun || added === undefined) return;
      context.output.done(
        `${added.domain} is added. Make these DNS records, then: doorstep domains verify ${found.slug} ${added.domain}`,
      );
      await context.output.resource(added, domainLines(added));
    },
  }),
  command({
    name: 'domains verify',
    summary: 'Look whether the DNS records of a domain are there',
    examples: [['Look now', 'domains verify corner-bakery bakery.example']],
    operations: ['verifyDomain'],
    write: true,
    arguments: { website, domain },
    run: async (context, args) => {
      const { domainLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const verified = await context.write((options) => doorstep.websites.domains.verify(found.id, args.domain, options));
      if (context.globals.dryRun || verified === undefined) return;
      if (verified.status === 'verified') context.output.done(`${verified.domain} is verified.`);
      else context.output.note(`${verified.domain} is not verified yet.`);
      await context.output.resource(verified, domainLines(verified));
    },
  }),
  command({
    name: 'domains remove',
    summary: 'Take a domain from a website',
    examples: [['Take it', 'domains remove corner-bakery bakery.example']],
    operations: ['removeDomain'],
    write: true,
    destructive: true,
    arguments: { website, domain },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Take ${args.domain} from ${found.name}?`);
      await change(
        context,
        (options) => doorstep.websites.domains.remove(found.id, args.domain, options),
        () => ({ said: `${args.domain} no longer leads to ${found.name}.` }),
      );
    },
  }),
  command({
    name: 'bookings list',
    summary: 'List the bookings of a website',
    examples: [['Those of a week', 'bookings list corner-bakery --from today --to "in 1 week"']],
    operations: ['listBookings'],
    arguments: { website },
    options: {
      from: text('From this day on', { placeholder: 'date' }),
      to: text('Until this day', { placeholder: 'date' }),
      ...listing,
    },
    run: async (context, args, options) => {
      const { readDate } = await import('../dates.js');
      const { shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const day = (given: string | undefined): string | undefined =>
        given === undefined ? undefined : readDate(given, Date.now(), 'future');
      const filter = defined({ from: day(options.from), to: day(options.to) });
      const bookings = await readList(
        context,
        (page) => doorstep.websites.bookings.list(found.id, { ...filter, ...page }),
        options,
      );
      const clock = { now: Date.now() };
      await context.output.list(
        bookings,
        [
          { heading: 'start', value: ({ start }) => start, shown: ({ start }) => shortTime(start, clock) },
          { heading: 'end', value: ({ end }) => end, shown: ({ end }) => shortTime(end, clock) },
          { heading: 'title', value: ({ title }) => title },
          { heading: 'status', value: ({ status }) => status },
          { heading: 'who', value: ({ attendees }) => attendees.map(({ name }) => name).join(', ') },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No bookings.',
      );
    },
  }),
  command({
    name: 'bookings add',
    summary: 'Add a booking to the embedded calendar of a website',
    examples: [['An hour', 'bookings add corner-bakery "Cake tasting" --start 2026-12-01T10:00 --end 2026-12-01T11:00']],
    operations: ['addBooking'],
    write: true,
    arguments: { website, title: argument('What it is', { placeholder: 'title' }) },
    options: {
      start: required(text('When it begins, in your time zone', { placeholder: 'time' })),
      end: required(text('When it ends', { placeholder: 'time' })),
      location: text('Where it is'),
    },
    run: async (context, args, { start, end, location }) => {
      const body = defined({ title: args.title, start: readTime(start), end: readTime(end), location });
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.bookings.add(found.id, body, options),
        ({ id, title }) => ({ said: `${title} is booked.`, value: id }),
      );
    },
  }),
  command({
    name: 'bookings cancel',
    summary: 'Cancel a booking of the embedded calendar',
    examples: [['By its id', 'bookings cancel corner-bakery <id>']],
    operations: ['cancelBooking'],
    write: true,
    destructive: true,
    arguments: { website, booking: argument('Id of the booking', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Cancel the booking ${args.booking} of ${found.name}?`);
      await change(
        context,
        (options) => doorstep.websites.bookings.cancel(found.id, args.booking, options),
        () => ({ said: 'The booking is cancelled.' }),
      );
    },
  }),
  command({
    name: 'services list',
    summary: 'List the services that are attached to a website',
    examples: [['All of them', 'services list corner-bakery']],
    operations: ['listServices'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { doorstep, website: found } = await at(context, args.website);
      const services = await readList(context, (page) => doorstep.websites.services.list(found.id, page), options);
      await context.output.list(
        services,
        [
          { heading: 'kind', value: ({ kind }) => kind },
          { heading: 'of', value: ({ shopDomain, siteId, eventTypeIds }) => shopDomain ?? siteId ?? eventTypeIds?.join(' ') },
          { heading: 'secrets', value: ({ secretNames }) => secretNames.join(' ') },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No services.',
      );
    },
  }),
  command({
    name: 'services attach',
    summary: 'Attach a service to a website',
    description:
      'Secrets are read from a file or from standard input, so that they stand neither in the history of the shell nor in the list of processes.',
    examples: [
      ['A shop', 'services attach corner-bakery commerce --shop-domain bakery.myshopify.com --secrets secrets.json'],
      ['A calendar', 'services attach corner-bakery scheduling --event-type 12'],
    ],
    operations: ['attachService'],
    write: true,
    arguments: { website, kind: argument('commerce, scheduling or analytics', { placeholder: 'kind' }) },
    options: {
      shopDomain: text('Commerce: domain of the shop', { placeholder: 'domain' }),
      eventType: list('Scheduling: id of an event type', { placeholder: 'number' }),
      siteId: text('Analytics: id of the site', { placeholder: 'id' }),
      secrets: text('A file with {"adminToken" or "apiKey"} as JSON, - for standard input', {
        placeholder: 'file',
        completes: 'file',
      }),
    },
    run: async (context, args, { shopDomain, eventType, siteId, secrets }) => {
      const body = defined({
        // The service says which kinds there are.
        kind: args.kind as 'commerce',
        shopDomain,
        eventTypeIds: eventType.length > 0 ? eventType.map(readNumber) : undefined,
        siteId,
        secrets:
          secrets === undefined ? undefined : ((await readJson(context, secrets)) as { adminToken?: string; apiKey?: string }),
      });
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.services.attach(found.id, body, options),
        ({ id, kind }) => ({ said: `${kind} is attached to ${found.name}.`, value: id }),
      );
    },
  }),
  command({
    name: 'services detach',
    summary: 'Detach a service from a website; its secrets are deleted',
    examples: [['By its id', 'services detach corner-bakery <id>']],
    operations: ['detachService'],
    write: true,
    destructive: true,
    arguments: { website, service: argument('Id of the service', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Detach the service ${args.service} from ${found.name}, and delete its secrets?`);
      await change(
        context,
        (options) => doorstep.websites.services.detach(found.id, args.service, options),
        () => ({ said: 'The service is detached.' }),
      );
    },
  }),
  command({
    name: 'products',
    summary: 'List the products of a website’s shop, as the shop says now',
    examples: [['All of them', 'products corner-bakery --all']],
    operations: ['listProducts'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { doorstep, website: found } = await at(context, args.website);
      const products = await readList(context, (page) => doorstep.websites.products.list(found.id, page), options);
      await context.output.list(
        products,
        [
          { heading: 'title', value: ({ title }) => title },
          { heading: 'status', value: ({ status }) => status },
          {
            heading: 'price',
            value: ({ price: { min, max, currency } }) => `${min === max ? min : `${min}–${max}`} ${currency}`,
            right: true,
          },
          { heading: 'in stock', value: ({ inventory }) => inventory, right: true },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No products.',
      );
    },
  }),
  command({
    name: 'commits',
    summary: 'List the commits of a website’s repository, the newest first',
    examples: [['The last ten', 'commits corner-bakery --limit 10']],
    operations: ['listCommits'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const commits = await readList(context, (page) => doorstep.websites.commits.list(found.id, page), options);
      const clock = { now: Date.now() };
      await context.output.list(
        commits,
        [
          {
            heading: 'commit',
            value: ({ id }) => id,
            shown: ({ id }) => id.slice(0, 7),
            style: (shown, style) => style.yellow(shown),
          },
          { heading: 'message', value: ({ message }) => message, shown: ({ message }) => message.split('\n')[0] ?? '' },
          { heading: 'by', value: ({ author }) => author },
          {
            heading: 'at',
            value: ({ committedAt }) => committedAt,
            shown: ({ committedAt }) => (committedAt === undefined ? '' : shortTime(committedAt, clock)),
          },
        ],
        'No commits.',
      );
    },
  }),
  command({
    name: 'deployments',
    summary: 'List the deployments of a website, the newest first',
    examples: [['The last one', 'deployments corner-bakery --limit 1']],
    operations: ['listDeployments'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const deployments = await readList(context, (page) => doorstep.websites.deployments.list(found.id, page), options);
      const clock = { now: Date.now() };
      await context.output.list(
        deployments,
        [
          {
            heading: 'status',
            value: ({ status }) => status,
            style: (shown, style, { status }) =>
              status === 'ready' ? style.green(shown) : status === 'failed' ? style.red(shown) : style.yellow(shown),
          },
          { heading: 'at', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortTime(createdAt, clock) },
          { heading: 'commit', value: ({ commit }) => commit, shown: ({ commit }) => commit?.slice(0, 7) ?? '' },
          { heading: 'url', value: ({ url, error }) => url ?? error },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'Never deployed.',
      );
    },
  }),
  command({
    name: 'analytics',
    summary: 'Show the visitors of a website',
    examples: [
      ['The last 30 days', 'analytics corner-bakery'],
      ['A time of your own', 'analytics corner-bakery --from 2026-11-01 --to 2026-11-30'],
    ],
    operations: ['getAnalytics'],
    arguments: { website },
    options: { from: text('From this day on', { placeholder: 'date' }), to: text('Until this day', { placeholder: 'date' }) },
    run: async (context, args, options) => {
      const { readDate } = await import('../dates.js');
      const { analyticsLines } = await import('../views/reports.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const day = (given: string | undefined): string | undefined =>
        given === undefined ? undefined : readDate(given, Date.now(), 'past').slice(0, 10);
      const report = await doorstep.websites.analytics.get(found.id, defined({ from: day(options.from), to: day(options.to) }));
      await context.output.view(
        report,
        () => analyticsLines(found.name, report, drawingFor(context.output)),
        () => report.series.map(({ date, visitors, pageviews }) => [date, visitors, pageviews]),
      );
    },
  }),
  command({
    name: 'seo',
    summary: 'Show what the last scan of a website found',
    examples: [['The findings', 'seo corner-bakery']],
    operations: ['getSeo'],
    arguments: { website },
    run: async (context, args) => {
      const { seoLines } = await import('../views/reports.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const report = await doorstep.websites.seo.get(found.id);
      await context.output.view(
        report,
        () => seoLines(found.name, report, drawingFor(context.output)),
        () => (report.latest?.findings ?? []).map(({ severity, rule, message, affected }) => [severity, rule, message, affected]),
      );
    },
  }),
  command({
    name: 'seo scan',
    summary: 'Have a website scanned',
    examples: [['Now', 'seo scan corner-bakery']],
    operations: ['requestSeoScan'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.seo.scan(found.id, options),
        ({ id }) => ({ said: `${found.name} is being scanned. What it found: doorstep seo ${found.slug}`, value: id }),
      );
    },
  }),
  command({
    name: 'blueprint',
    summary: 'List the parts of a website and how they stand',
    examples: [['As JSON, with where they are drawn', 'blueprint corner-bakery --json']],
    operations: ['getBlueprint'],
    arguments: { website },
    run: async (context, args) => {
      const { output } = context;
      const { doorstep, website: found } = await at(context, args.website);
      const blueprint = await doorstep.websites.blueprint.get(found.id);
      if (output.isJson) {
        await output.json(blueprint);
        return;
      }
      await output.list(
        blueprint.nodes,
        [
          { heading: 'part', value: ({ label }) => label },
          { heading: 'kind', value: ({ kind }) => kind },
          {
            heading: 'state',
            value: ({ state }) => state,
            style: (shown, style, { state }) => (state === 'ready' ? style.green(shown) : style.dim(shown)),
          },
          { heading: 'of', value: ({ partOf }) => partOf },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No parts.',
      );
    },
  }),
  command({
    name: 'blueprint set',
    summary: 'Arrange the parts of a website in its drawing',
    examples: [['From a file of {"nodes": [{"id", "x", "y"}]}', 'blueprint set corner-bakery --file blueprint.json']],
    operations: ['arrangeBlueprint'],
    write: true,
    arguments: { website },
    options: {
      file: required(text('A file with JSON, - for standard input', { short: 'f', placeholder: 'file', completes: 'file' })),
    },
    run: async (context, args, { file }) => {
      // Checked by the service.
      const body = (await readJson(context, file)) as { nodes: { id: string; x: number; y: number }[] };
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.blueprint.replace(found.id, body, options),
        () => ({ said: `The blueprint of ${found.name} is arranged.` }),
      );
    },
  }),
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
      const { money, shortDay } = await import('../views/words.js');
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
          },
          { heading: 'for', value: ({ description }) => description },
          { heading: 'made', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortDay(createdAt, clock) },
          {
            heading: 'due',
            value: ({ dueAt }) => dueAt,
            shown: ({ dueAt }) => (dueAt === undefined ? '' : shortDay(dueAt, clock)),
          },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No invoices.',
      );
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
      const { readDate } = await import('../dates.js');
      const { money } = await import('../views/words.js');
      const { clean } = await import('../output.js');
      const { doorstep, website: found } = await at(context, args.website);
      const body = defined({
        total,
        currency,
        description,
        dueAt: due === undefined ? undefined : readDate(due, Date.now(), 'future'),
      });
      await change(
        context,
        (options) => doorstep.websites.invoices.create(found.id, body, options),
        (invoice) => ({ said: `An invoice of ${money(invoice.total, invoice.currency)} is made.`, value: invoice.id }),
        // The ledger is not in the log: a dry run has no events.
        () => [`Would make an invoice of ${money(total, currency)} for ${found.name}: ${clean(description)}`],
      );
    },
  }),
  ...(['pay', 'void'] as const).map((verb) =>
    command({
      name: `invoices ${verb}`,
      summary: verb === 'pay' ? 'Note that an invoice of the embedded ledger is paid' : 'Void an invoice of the embedded ledger',
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
