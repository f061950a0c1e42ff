import { argument, command, defined, list, text, website, wholeNumber, type Command } from '../command.js';
import { at, change, listing, readJson, readList } from './shared.js';

/** Commands on the services of a website, and on what they sell. */
export const serviceCommands: readonly Command[] = [
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
          { heading: 'secrets', value: ({ secretNames }) => secretNames.join(' '), spare: true },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), whole: true },
        ],
        'No services.',
      );
    },
  }),
  command({
    name: 'services get',
    summary: 'Show a service of a website',
    examples: [['By its id', 'services get corner-bakery <id>']],
    operations: ['getService'],
    arguments: { website, service: argument('Id of the service', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { serviceLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await doorstep.websites.services.get(found.id, args.service);
      await context.output.resource(one, serviceLines(one));
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
      secrets: text('A file with {"adminToken", "apiKey" or others} as JSON, - for standard input', {
        placeholder: 'file',
        completes: 'file',
      }),
    },
    run: async (context, args, { shopDomain, eventType, siteId, secrets }) => {
      const body = defined({
        // The service says which kinds there are.
        kind: args.kind as 'commerce',
        shopDomain,
        eventTypeIds: eventType.length > 0 ? eventType.map(wholeNumber) : undefined,
        siteId,
        secrets: secrets === undefined ? undefined : ((await readJson(context, secrets)) as Record<string, string>),
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
];
