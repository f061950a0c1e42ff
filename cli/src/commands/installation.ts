import type { Doorstep } from '@doorstep/sdk';
import {
  argument,
  choice,
  command,
  defined,
  flag,
  optionalArgument,
  restArgument,
  required,
  text,
  type Command,
} from '../command.js';
import { byIdOrName, change, expiry, findWebsite, listing, readList } from './shared.js';

/** Of each kind, as the service searches. */
const maxFound = 20;

const keyArgument = argument('Name or beginning of a token of yours, or the id of any', { placeholder: 'token' });

/** Not looked for: an admin may name the id of somebody else's token, which no list of theirs has. */
const keyIdPattern = /^[0-9a-hjkmnp-tv-z]{26,}$/;

/** The token that is named, by its beginning as lists show it too, and what it is called. @throws Refusal */
const findKey = async (
  apiKeys: Doorstep['apiKeys'],
  named: string,
): Promise<{ readonly id: string; readonly called: string }> => {
  if (keyIdPattern.test(named)) return { id: named, called: named };
  const beginning = named.replace(/…$/, '');
  async function* keys(): AsyncGenerator<
    { readonly id: string; readonly name: string; readonly called: string },
    void,
    undefined
  > {
    for await (const { id, name, prefix } of apiKeys.list({ limit: 200 }))
      yield { id, name: prefix === beginning ? named : name, called: `${name} (${prefix}…)` };
  }
  return byIdOrName(keys(), named, 'token');
};

/** Commands on the installation: keys, the audit, templates, search, mails, health. */
export const installationCommands: readonly Command[] = [
  command({
    name: 'keys list',
    summary: 'List your personal access tokens',
    examples: [
      ['Yours', 'keys list'],
      ['Those of somebody else, as an admin', 'keys list --subject ops@example.com'],
    ],
    operations: ['listAPIKeys'],
    options: { subject: text('Of this subject of the identity provider'), ...listing },
    run: async (context, _args, options) => {
      const { shortDay } = await import('../views/words.js');
      const doorstep = await context.doorstep();
      const filter = defined({ subject: options.subject });
      const keys = await readList(context, (page) => doorstep.apiKeys.list({ ...filter, ...page }), options);
      const clock = { now: Date.now() };
      const day = (time: string | undefined, otherwise: string): string =>
        time === undefined ? otherwise : shortDay(time, clock);
      await context.output.list(
        keys,
        [
          { heading: 'name', value: ({ name }) => name },
          { heading: 'token', value: ({ prefix }) => prefix, shown: ({ prefix }) => `${prefix}…` },
          { heading: 'role', value: ({ role }) => role },
          { heading: 'may', value: ({ scope }) => scope },
          { heading: 'used', value: ({ lastUsedAt }) => lastUsedAt, shown: ({ lastUsedAt }) => day(lastUsedAt, 'never') },
          { heading: 'expires', value: ({ expiresAt }) => expiresAt, shown: ({ expiresAt }) => day(expiresAt, 'never') },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No tokens.',
      );
    },
  }),
  command({
    name: 'keys get',
    summary: 'Show a personal access token, without the token itself',
    examples: [['By its name', 'keys get "Weekly report"']],
    operations: ['getAPIKey'],
    arguments: { key: keyArgument },
    run: async (context, { key }) => {
      const { keyLines } = await import('../views/resources.js');
      const { apiKeys } = await context.doorstep();
      const found = await apiKeys.get((await findKey(apiKeys, key)).id);
      await context.output.resource(found, keyLines(found));
    },
  }),
  command({
    name: 'keys create',
    summary: 'Make a personal access token; it is shown once',
    examples: [['That only reads, for 90 days', 'keys create "Weekly report" --scope read --expires 90d']],
    operations: ['mintAPIKey'],
    write: true,
    arguments: { name: argument('What it is for', { placeholder: 'name' }) },
    options: {
      role: choice(['admin', 'client'], 'As what it acts'),
      scope: choice(['read', 'write'], 'What it may do'),
      expires: text(`${expiry}. Default: never`, { placeholder: 'time' }),
    },
    run: async (context, { name }, { role, scope, expires }) => {
      const { expiryFrom } = await import('../login/expiry.js');
      const body = defined({
        name,
        role,
        scope,
        expiresAt: expires === undefined ? undefined : expiryFrom(expires, Date.now()),
      });
      const doorstep = await context.doorstep();
      const minted = await change(
        context,
        (options) => doorstep.apiKeys.create(body, options),
        ({ token }) => ({ said: 'The token is made. It is not shown again:', value: token }),
      );
      if (minted !== undefined && context.output.isTerminal && !context.output.isJson) context.output.lines([minted.token]);
    },
  }),
  command({
    name: 'keys revoke',
    summary: 'Revoke a personal access token, at once and everywhere',
    examples: [['By its name', 'keys revoke "Weekly report"']],
    operations: ['revokeAPIKey'],
    write: true,
    destructive: true,
    arguments: { key: keyArgument },
    run: async (context, { key }) => {
      const { apiKeys } = await context.doorstep();
      const { id, called } = await findKey(apiKeys, key);
      await context.confirm(`Revoke the token ${called}?`);
      await change(
        context,
        (options) => apiKeys.revoke(id, options),
        () => ({ said: 'The token is revoked.' }),
      );
    },
  }),
  ...(['list', 'export'] as const).map((verb) => {
    const filters = {
      website: text('Only changes of this website', { placeholder: 'website', completes: 'website' }),
      actor: text('Only changes by this person: an address or a subject', { placeholder: 'person' }),
      from: text('From this day on', { placeholder: 'date' }),
      to: text('Until this day, that day included', { placeholder: 'date' }),
    };
    const filterOf = async (
      context: Parameters<Command['run']>[0],
      { website, actor, from, to }: { [K in keyof typeof filters]: string | undefined },
    ) => {
      const { isDay, readDate } = await import('../dates.js');
      // A day is a day of the service, a time is a time.
      const time = (given: string | undefined): string | undefined => {
        if (given === undefined) return undefined;
        const at = readDate(given, Date.now(), 'past');
        return isDay(given) ? at.slice(0, 10) : at;
      };
      const websiteId = website === undefined ? undefined : (await findWebsite(context, website)).id;
      return defined({ websiteId, actor, from: time(from), to: time(to) });
    };
    if (verb === 'export')
      return command({
        name: 'audit export',
        summary: 'Export every change, as CSV or as a line of JSON for each',
        examples: [
          ['Into a file', 'audit export -o audit.csv'],
          ['Of a website and a month', 'audit export --format ndjson --website corner-bakery --from 2026-11-01 --to 2026-11-30'],
        ],
        operations: ['listAudit'],
        plain: true,
        options: {
          format: choice(['csv', 'ndjson'], 'How it is written. Default: as the name of the file ends, else csv'),
          ...filters,
          output: text('The file to write; without it standard output', { short: 'o', placeholder: 'file', completes: 'file' }),
          force: flag('Replace a file that is there'),
        },
        run: async (context, _args, options) => {
          const { save } = await import('../files.js');
          const doorstep = await context.doorstep();
          const filter = await filterOf(context, options);
          const format = options.format ?? (options.output?.endsWith('.ndjson') === true ? 'ndjson' : 'csv');
          const stream = await doorstep.audit.export(format, filter, {
            signal: context.interruption.signal,
            timeoutMs: 0,
          });
          await save(context, stream as Parameters<typeof save>[1], options.output ?? '-', options.force);
        },
      });
    return command({
      name: 'audit list',
      summary: 'List what was changed, by whom and by which way',
      examples: [
        ['The last changes', 'audit list'],
        ['Of a website, today', 'audit list --website corner-bakery --from today'],
      ],
      operations: ['listAudit'],
      options: { ...filters, sort: text('By at; -at, the newest first, is the default', { placeholder: 'field' }), ...listing },
      run: async (context, _args, options) => {
        const { sentence, shortTime } = await import('../views/words.js');
        const doorstep = await context.doorstep();
        const filter = { ...(await filterOf(context, options)), ...defined({ sort: options.sort as 'at' | undefined }) };
        const entries = await readList(context, (page) => doorstep.audit.list({ ...filter, ...page }), options);
        const clock = { now: Date.now() };
        await context.output.list(
          entries,
          [
            { heading: 'at', value: ({ at }) => at, shown: ({ at }) => shortTime(at, clock) },
            { heading: 'what', value: ({ type }) => type, shown: ({ type }) => sentence(type) },
            { heading: 'who', value: ({ actor }) => actor.name ?? actor.subject },
            { heading: 'by', value: ({ actor }) => actor.via },
            { heading: 'website', value: ({ websiteId }) => websiteId, style: (shown, style) => style.dim(shown), spare: true },
            { heading: 'request', value: ({ requestId }) => requestId, style: (shown, style) => style.dim(shown), spare: true },
          ],
          'No changes.',
        );
      },
    });
  }),
  command({
    name: 'templates',
    summary: 'List the templates that a website can begin from',
    examples: [['All of them', 'templates']],
    operations: ['listTemplates'],
    options: listing,
    run: async (context, _args, options) => {
      const doorstep = await context.doorstep();
      const templates = await readList(context, (page) => doorstep.templates.list(page), options);
      await context.output.list(
        templates,
        [
          { heading: 'id', value: ({ id }) => id },
          { heading: 'name', value: ({ name }) => name },
          { heading: 'description', value: ({ description }) => description },
        ],
        'No templates.',
      );
    },
  }),
  command({
    name: 'templates picture',
    summary: 'Save the picture of a template',
    examples: [['Into a file', 'templates picture business -o business.webp']],
    operations: ['getTemplatePicture'],
    plain: true,
    arguments: { template: argument('Id of the template', { placeholder: 'template' }) },
    options: {
      output: required(text('The file to write, - for standard output', { short: 'o', placeholder: 'file', completes: 'file' })),
      force: flag('Replace a file that is there'),
    },
    run: async (context, { template }, { output, force }) => {
      const { save } = await import('../files.js');
      const picture = await (await context.doorstep()).templates.picture(template);
      await save(context, picture.stream() as Parameters<typeof save>[1], output, force);
    },
  }),
  command({
    name: 'features',
    summary: 'List the features and the tiers that have them',
    examples: [['All of them', 'features']],
    operations: ['listFeatures'],
    run: async (context) => {
      const { output } = context;
      const features = await (await context.doorstep()).features.list();
      if (output.isJson) {
        await output.json(features);
        return;
      }
      await output.list(
        features.features,
        [
          { heading: 'feature', value: ({ feature }) => feature },
          { heading: 'from tier', value: ({ lowestTier }) => lowestTier },
        ],
        'No features.',
      );
    },
  }),
  command({
    name: 'search',
    summary: 'Find websites and clients by a part of their names',
    examples: [['By the beginning of a word', 'search bak']],
    operations: ['search'],
    arguments: { words: restArgument('What is searched', { placeholder: 'words' }) },
    run: async (context, { words }) => {
      const { output } = context;
      const result = await (await context.doorstep()).search(words.join(' '));
      const rows = [
        ...result.websites.map(({ slug, name, id }) => ({ kind: 'website', name, key: slug, id })),
        ...(result.clients ?? []).map(({ email, name, id }) => ({ kind: 'client', name: name ?? '', key: email, id })),
      ];
      if (output.isJson) await output.json(result);
      else
        await output.list(
          rows,
          [
            { heading: 'kind', value: ({ kind }) => kind },
            { heading: 'slug or address', value: ({ key }) => key, style: (shown, style) => style.bold(shown) },
            { heading: 'name', value: ({ name }) => name },
            { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
          ],
          'Nothing was found.',
        );
      if ([result.websites, result.clients ?? []].some(({ length }) => length >= maxFound))
        output.note(
          `There may be more: at most ${String(maxFound)} websites and ${String(maxFound)} clients are found. Search for more of the name.`,
        );
    },
  }),
  command({
    name: 'outbox',
    summary: 'List the mails of an installation that sends none itself',
    examples: [
      ['Those to a person', 'outbox --to nell@example.com'],
      ['The link in the last one', 'outbox --to nell@example.com --limit 1 --jq ".[0].links[0]"'],
    ],
    operations: ['listOutbox'],
    options: { to: text('Only those to this address', { placeholder: 'email' }), ...listing },
    run: async (context, _args, options) => {
      const { shortTime } = await import('../views/words.js');
      const doorstep = await context.doorstep();
      const filter = defined({ to: options.to });
      const mails = await readList(context, (page) => doorstep.outbox.list({ ...filter, ...page }), options);
      const clock = { now: Date.now() };
      await context.output.list(
        mails,
        [
          { heading: 'at', value: ({ at }) => at, shown: ({ at }) => shortTime(at, clock) },
          { heading: 'to', value: ({ to }) => to },
          { heading: 'subject', value: ({ subject }) => subject },
          { heading: 'link', value: ({ links }) => links[0] },
        ],
        'No mails.',
      );
    },
  }),
  command({
    name: 'events',
    summary: 'Follow what changes everywhere, or at a website',
    description: 'A line for each change, until Ctrl-C. With --json each change as JSON.',
    examples: [
      ['Everywhere', 'events'],
      ['At a website', 'events corner-bakery'],
    ],
    operations: ['followChanges', 'followWebsiteChanges'],
    arguments: { website: optionalArgument('Slug or id of the website', { completes: 'website' }) },
    run: async (context, { website }) => {
      const { followChanges } = await import('../followChanges.js');
      const doorstep = await context.doorstep();
      const { signal } = context.interruption;
      await followChanges(
        context,
        website === undefined
          ? doorstep.changes.watch({ signal })
          : doorstep.websites.watch((await findWebsite(context, website)).id, { signal }),
      );
    },
  }),
  command({
    name: 'status',
    summary: 'Show whether the service is up and ready',
    examples: [['Now', 'status']],
    operations: ['getHealth', 'getReadiness'],
    run: async (context) => {
      const { output } = context;
      const doorstep = await context.doorstep();
      const health = await doorstep.system.health();
      const ready = await doorstep.system.readiness();
      const warnings = ready.checks.filter(({ warning }) => warning !== undefined);
      const { url } = await context.connection();
      await output.resource({ url, ...health, ...ready }, [
        ['url', url],
        ['status', health.status],
        ['ready', ready.status],
        ...warnings.map(({ name, warning }) => [`warning: ${name}`, warning] as const),
      ]);
    },
  }),
];
