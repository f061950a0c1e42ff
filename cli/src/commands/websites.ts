import type { Website } from '@doorstep/sdk';
import { argument, choice, command, defined, flag, list, required, text, UsageError, website, type Command } from '../command.js';
import type { WriteOptions } from '../context.js';
import { at, change, deploy, listing, readList, sorted } from './shared.js';

const tiers = ['starter', 'growth', 'scale'] as const;
const features = ['content', 'documents', 'analytics', 'marketing', 'seo', 'scheduling', 'commerce', 'blueprint'] as const;
type Feature = (typeof features)[number];

const readFeature = (given: string): Feature => {
  const feature = features.find((one) => one === given);
  if (feature === undefined) throw new UsageError(`"${given}" is none of ${features.join(', ')}`);
  return feature;
};

const nobody = 'none';

/** `; its repository and hosting project stay`. */
const staying = (kept: Website['keep'] = []): string => {
  const things = kept.map((one) => (one === 'hosting' ? 'hosting project' : one));
  return things.length === 0 ? '' : `; its ${things.join(' and ')} ${things.length > 1 ? 'stay' : 'stays'}`;
};

/** Commands on websites themselves. */
export const websiteCommands: readonly Command[] = [
  command({
    name: 'websites create',
    summary: 'Create a website, and have it built',
    description:
      'The website is there at once, and is built in six steps. With --watch they are shown until the last one is done; Ctrl-C stops watching, not the build.',
    examples: [
      ['Create it and watch it being built', 'websites create "Corner Bakery" --slug corner-bakery --watch'],
      [
        'With the features of a tier, for a client',
        'websites create "Corner Bakery" --slug corner-bakery --tier growth --client nell@example.com',
      ],
      ['What would happen', 'websites create "Corner Bakery" --slug corner-bakery --dry-run'],
    ],
    operations: ['createWebsite', 'followProvisioningJob'],
    write: true,
    arguments: { name: argument('What it is called', { placeholder: 'name' }) },
    options: {
      slug: required(text('Its place in addresses: a-z, 0-9 and dashes')),
      template: text('Id of the template to begin from', { placeholder: 'id' }),
      tier: choice(tiers, 'What it may have'),
      feature: list('One of its features, several times for several; without it all of its tier', { placeholder: 'feature' }),
      brandColor: text('As #RRGGBB', { placeholder: 'colour' }),
      client: text('Id or address of the client who owns it', { placeholder: 'client' }),
      collaborator: list('A username at the source host to invite', { placeholder: 'username' }),
      watch: flag('Watch it being built', { short: 'w' }),
    },
    run: async (context, { name }, { slug, template, tier, feature, brandColor, client, collaborator, watch }) => {
      const { clientIdOf } = await import('./shared.js');
      const doorstep = await context.doorstep();
      const body = defined({
        name,
        slug,
        templateId: template,
        tier,
        features: feature.length > 0 ? feature.map(readFeature) : undefined,
        brandColor,
        clientId: client === undefined ? undefined : await clientIdOf(doorstep, client),
        collaborators: collaborator.length > 0 ? [...collaborator] : undefined,
      });
      const create = (options: WriteOptions) => doorstep.websites.create(body, options);
      if (!watch) {
        await change(context, create, ({ id }) => ({
          said: `${name} is created and being built. To watch it: doorstep provisioning watch ${slug}`,
          value: id,
        }));
        return;
      }
      const created = await context.write(create);
      if (created === undefined) return;
      context.output.done(`${name} is created.`);
      const { watchProvisioning } = await import('../watchProvisioning.js');
      await watchProvisioning(context, created, 'website');
    },
  }),
  command({
    name: 'websites list',
    summary: 'List websites',
    examples: [
      ['The newest websites', 'websites list'],
      ['Those that are late, for a script', 'websites list --attention late --json id,slug'],
      ['All of them by the date they are ready', 'websites list --all --sort estimatedCompletionAt'],
      ['Those that you yourself have access to', 'websites list --mine'],
    ],
    operations: ['listWebsites', 'listMyWebsites'],
    options: {
      status: choice(['provisioning', 'active'], 'Only those of this status'),
      attention: choice(['failed', 'late', 'waiting'], 'Only those that need attention'),
      provisioning: choice(['queued', 'running', 'succeeded', 'failed'], 'Only those whose build stands so'),
      tier: choice(tiers, 'Only those of this tier'),
      feature: choice(features, 'Only those with this feature'),
      client: text('Only those of this client: an id or an address', { placeholder: 'client' }),
      query: text('Only those whose name or slug holds this', { short: 'q', mayBeEmpty: true }),
      archived: flag('Those that are archived'),
      mine: flag('Those that you have access to yourself'),
      sort: sorted('name', 'slug', 'status', 'createdAt', 'estimatedCompletionAt'),
      ...listing,
    },
    run: async (context, _args, options) => {
      const { clientIdOf } = await import('./shared.js');
      const { dayClock, shortDay } = await import('../views/words.js');
      const { status, attention, provisioning, tier, feature, client, query, archived, mine, sort } = options;
      const doorstep = await context.doorstep();
      const filter = defined({
        status,
        attention,
        provisioning,
        tier,
        feature,
        clientId: client === undefined ? undefined : await clientIdOf(doorstep, client),
        q: query,
        archived: archived ? true : undefined,
        // The service says which fields there are.
        sort: sort as 'name' | undefined,
      });
      if (mine && Object.keys(filter).length > 0) throw new UsageError('--mine takes no filter');
      const websites = await readList(
        context,
        (page) => (mine ? doorstep.me.websites(page) : doorstep.websites.list({ ...filter, ...page })),
        options,
      );
      const days = dayClock({ now: Date.now() });
      const readyBy = ({ deliverySummary }: (typeof websites)[number]): string | undefined =>
        deliverySummary?.estimatedCompletionAt;
      await context.output.list(
        websites,
        [
          { heading: 'slug', value: ({ slug }) => slug, style: (shown, style) => style.bold(shown) },
          { heading: 'name', value: ({ name }) => name },
          {
            heading: 'status',
            value: (one) => (one.archivedAt === undefined ? one.status : 'archived'),
            style: (shown, style, one) => (one.status === 'active' ? shown : style.yellow(shown)),
          },
          { heading: 'tier', value: (one) => one.tier, spare: true },
          {
            heading: 'ready by',
            value: readyBy,
            shown: (one) => {
              const time = readyBy(one);
              return time === undefined ? '' : shortDay(time, days);
            },
          },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No websites.',
      );
    },
  }),
  command({
    name: 'websites get',
    summary: 'Show a website',
    examples: [
      ['By its slug', 'websites get corner-bakery'],
      ['Its address alone', 'websites get corner-bakery --jq .url'],
    ],
    operations: ['getWebsite'],
    arguments: { website },
    run: async (context, args) => {
      const found = await (await context.doorstep()).websites.find(args.website);
      const { websiteLines } = await import('../views/resources.js');
      await context.output.resource(found, websiteLines(found));
    },
  }),
  command({
    name: 'websites update',
    summary: 'Change the name, slug, tier, features, colour or owner of a website',
    examples: [
      ['Another name', 'websites update corner-bakery --name "The Corner Bakery"'],
      ['Another tier, shown on the site at once', 'websites update corner-bakery --tier growth --redeploy'],
      ['No colour of its own any more', 'websites update corner-bakery --brand-color none'],
    ],
    operations: ['changeWebsite'],
    write: true,
    arguments: { website },
    options: {
      name: text('What it is called'),
      slug: text('Its place in addresses'),
      tier: choice(tiers, 'What it may have'),
      feature: list('One of its features, several times for several: the others go', { placeholder: 'feature' }),
      brandColor: text('As #RRGGBB, or none', { placeholder: 'colour' }),
      owner: text('Id or address of the client who owns it, or none', { placeholder: 'client' }),
      redeploy: flag('Deploy it, so that the site shows the change'),
    },
    run: async (context, args, { name, slug, tier, feature, brandColor, owner, redeploy }) => {
      const { clientIdOf } = await import('./shared.js');
      const { doorstep, website: found } = await at(context, args.website);
      const body = defined({
        name,
        slug,
        tier,
        features: feature.length > 0 ? feature.map(readFeature) : undefined,
        brandColor: brandColor === nobody ? null : brandColor,
        clientId: owner === undefined ? undefined : owner === nobody ? null : await clientIdOf(doorstep, owner),
      });
      if (Object.keys(body).length === 0) throw new UsageError('Nothing to change: name what, such as --name');
      await change(
        context,
        (options) => doorstep.websites.update(found.id, { ...body, ...(redeploy && { redeploy }) }, options),
        (changed) => ({
          said: `${changed.name} is changed.${
            changed.redeployNeeded === true ? ` The site still shows what was: doorstep websites redeploy ${changed.slug}` : ''
          }`,
          value: changed.id,
        }),
      );
    },
  }),
  command({
    name: 'websites archive',
    summary: 'Take a website off the list; its site is no longer served',
    examples: [['Archive it', 'websites archive corner-bakery']],
    operations: ['archiveWebsite'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.archive(found.id, options),
        ({ id, name, slug }) => ({ said: `${name} is archived. To bring it back: doorstep websites restore ${slug}`, value: id }),
      );
    },
  }),
  command({
    name: 'websites restore',
    summary: 'Bring an archived website back, or keep one from being deleted',
    examples: [['Bring it back', 'websites restore corner-bakery']],
    operations: ['restoreWebsite'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.restore(found.id, options),
        ({ id, name }) => ({ said: `${name} is back.`, value: id }),
      );
    },
  }),
  command({
    name: 'websites delete',
    summary: 'Delete an archived website for good, in 30 days',
    description:
      'Its repository and hosting project go too, unless they are kept. Until then websites restore cancels it, and websites delete with another --keep ("" for nothing) changes what stays.',
    examples: [
      ['Delete it; its slug is asked for', 'websites delete corner-bakery'],
      ['Without a terminal, keeping the repository', 'websites delete corner-bakery --confirm corner-bakery --keep repository'],
    ],
    operations: ['deleteWebsite'],
    write: true,
    destructive: 'typed',
    arguments: { website },
    options: {
      confirm: text('The slug, instead of typing it', { placeholder: 'slug' }),
      keep: list('What stays at the providers: repository, hosting, or both with a comma between', {
        placeholder: 'what',
        mayBeEmpty: true,
      }),
    },
    run: async (context, args, { confirm, keep }) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirmTyped(`Type the slug of ${found.name} to delete it:`, found.slug, {
        option: 'confirm',
        value: confirm,
      });
      const query = { confirm: found.slug, ...(keep.length > 0 && { keep: keep.join(',') }) };
      const { longDay } = await import('../views/words.js');
      await change(
        context,
        (options) => doorstep.websites.delete(found.id, query, options),
        ({ id, name, slug, purgeAt, keep: kept }) => ({
          said: `${name} will be deleted${
            purgeAt === undefined ? '' : ` on ${longDay(purgeAt, { now: Date.now() })}`
          }${staying(kept)}. To keep the website: doorstep websites restore ${slug}`,
          value: id,
        }),
      );
    },
  }),
  command({
    name: 'websites remove-owner',
    summary: 'Take a website from its owner; their subscription for it is cancelled',
    examples: [['Take it from its owner', 'websites remove-owner corner-bakery']],
    operations: ['removeOwner'],
    write: true,
    destructive: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Take ${found.name} from its owner and cancel their subscription?`);
      await change(
        context,
        (options) => doorstep.websites.removeOwner(found.id, options),
        () => ({ said: `${found.name} has no owner any more.` }),
      );
    },
  }),
  command({
    name: 'websites redeploy',
    summary: 'Build and deploy a website again',
    examples: [['Deploy it again', 'websites redeploy corner-bakery']],
    operations: ['redeployWebsite'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await deploy(context, found, (options) => doorstep.websites.redeploy(found.id, options));
    },
  }),
  command({
    name: 'websites watch',
    summary: 'Follow what changes at a website',
    description: 'A line for each change, until Ctrl-C. With --json each change as JSON.',
    examples: [['Follow it', 'websites watch corner-bakery']],
    operations: ['followWebsiteChanges'],
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const { followChanges } = await import('../followChanges.js');
      await followChanges(context, doorstep.websites.watch(found.id, { signal: context.interruption.signal }));
    },
  }),
];
