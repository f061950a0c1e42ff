import { command, defined, required, text, website, type Command } from '../command.js';
import { at, change, listing, readJson, readList } from './shared.js';

/** What `blueprint --json` prints of a node beside its place: the service says it, and takes none of it. */
const said = ['kind', 'label', 'state', 'partOf'];

/** The nodes without what is said of them; anything else is left for the service to refuse. */
const placesIn = (given: unknown): unknown => {
  const { nodes } = Object(given) as { readonly nodes?: unknown };
  if (!Array.isArray(nodes)) return given;
  const places = nodes.map((node: unknown) =>
    typeof node === 'object' && node !== null
      ? Object.fromEntries(Object.entries(node).filter(([field]) => !said.includes(field)))
      : node,
  );
  return { ...(given as object), nodes: places };
};

/** Commands on how a website is made and does: its commits, deployments, visitors, scans and parts. */
export const reportCommands: readonly Command[] = [
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
    description: 'From {"nodes": [{"id", "x", "y"}]}, or from what blueprint --json prints: only the places are taken.',
    examples: [['From a file', 'blueprint set corner-bakery --file blueprint.json']],
    operations: ['arrangeBlueprint'],
    write: true,
    arguments: { website },
    options: {
      file: required(text('A file with JSON, - for standard input', { short: 'f', placeholder: 'file', completes: 'file' })),
    },
    run: async (context, args, { file }) => {
      // Checked by the service.
      const body = placesIn(await readJson(context, file)) as { nodes: { id: string; x: number; y: number }[] };
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.blueprint.replace(found.id, body, options),
        () => ({ said: `The blueprint of ${found.name} is arranged.` }),
      );
    },
  }),
];
