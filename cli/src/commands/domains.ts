import { argument, command, website, type Command } from '../command.js';
import { at, change, listing, readList } from './shared.js';

const domain = argument('The domain', { placeholder: 'domain' });

/** Commands on the domains of a website. */
export const domainCommands: readonly Command[] = [
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
];
