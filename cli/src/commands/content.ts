import type { Doorstep } from '@doorstep/sdk';
import { argument, command, flag, required, text, website, type Command } from '../command.js';
import type { Context } from '../context.js';
import { at, change, deploy, listing, readJson, readList } from './shared.js';

const document = argument('Id of the document', { placeholder: 'document' });
const hash = argument('Hash of the version, as in versions', { placeholder: 'hash' });

/** The hash of the version that is saved over; null where there is none yet. */
const hashOf = async (read: () => Promise<{ readonly hash: string }>): Promise<string | null> => {
  const { DoorstepError } = await import('@doorstep/sdk');
  try {
    return (await read()).hash;
  } catch (error) {
    if (error instanceof DoorstepError && error.code === 'content_not_found') return null;
    throw error;
  }
};

/** As many characters as lists show of a hash; a whole one has 64. */
const shortHash = 12;

/** The hash that is meant, by its beginning as lists show it too. What is none of these is for the service to refuse. */
const wholeHash = async (
  given: string,
  versions: () => AsyncIterable<{ readonly hash: string }> | Promise<Iterable<{ readonly hash: string }>>,
): Promise<string> => {
  if (given.length < shortHash || given.length >= 64) return given;
  for await (const { hash: one } of await versions()) if (one.startsWith(given)) return one;
  return given;
};

interface Kind {
  /** Of the commands, and of the SDK's resource. */
  readonly name: 'content' | 'marketing';
  readonly what: string;
  readonly operations: Readonly<Record<'list' | 'get' | 'save' | 'versions' | 'version' | 'restore', string>>;
}

/** Content and marketing documents are read and saved alike. */
const commandsOf = ({ name, what, operations }: Kind): readonly Command[] => {
  const example = name === 'content' ? 'texts' : 'newsletter';
  const found = async (
    context: Context,
    slug: string,
  ): Promise<{ doorstep: Doorstep; id: string; slug: string; all: Doorstep['websites'][typeof name] }> => {
    const { doorstep, website: one } = await at(context, slug);
    return { doorstep, id: one.id, slug: one.slug, all: doorstep.websites[name] };
  };

  return [
    command({
      name: `${name} list`,
      summary: `List the ${what} documents of a website`,
      examples: [['All of them', `${name} list corner-bakery`]],
      operations: [operations.list],
      arguments: { website },
      options: listing,
      run: async (context, args, options) => {
        const { shortTime } = await import('../views/words.js');
        const { id, all } = await found(context, args.website);
        const documents = await readList(context, (page) => all.list(id, page), options);
        const clock = { now: Date.now() };
        await context.output.list(
          documents,
          [
            { heading: 'id', value: (one) => one.id },
            {
              heading: 'changed',
              value: ({ updatedAt }) => updatedAt,
              shown: ({ updatedAt }) => (updatedAt === undefined ? '' : shortTime(updatedAt, clock)),
            },
            { heading: 'by', value: ({ updatedBy }) => updatedBy?.name ?? updatedBy?.subject },
            {
              heading: 'published',
              value: ({ publishedHash, hash: now }) => publishedHash === now,
              shown: ({ publishedHash, hash: now }) => (publishedHash === now ? 'yes' : 'not yet'),
            },
            {
              heading: 'hash',
              value: (one) => one.hash,
              shown: (one) => one.hash.slice(0, shortHash),
              style: (shown, style) => style.dim(shown),
            },
          ],
          `No ${what} documents.`,
        );
      },
    }),
    command({
      name: `${name} get`,
      summary: `Print a ${what} document as JSON`,
      examples: [
        ['The document alone', `${name} get corner-bakery ${example}`],
        ['With its hash', `${name} get corner-bakery ${example} --json id,hash,body`],
        ['As it was in a version', `${name} get corner-bakery ${example} --version <hash>`],
      ],
      operations: [operations.get, operations.version],
      arguments: { website, document },
      options: { version: text('Hash of an earlier version', { placeholder: 'hash' }) },
      run: async (context, args, { version }) => {
        const { id, all } = await found(context, args.website);
        const one =
          version === undefined
            ? await all.get(id, args.document)
            : await all.version(
                id,
                args.document,
                await wholeHash(version, () => all.versions(id, args.document, { limit: 200 })),
              );
        const { cleanLines } = await import('../output.js');
        if (context.output.isJson) await context.output.json(one);
        else context.output.lines([cleanLines(JSON.stringify(one.body, null, 2))]);
      },
    }),
    command({
      name: `${name} edit`,
      summary: `Change a ${what} document in your editor`,
      description:
        'Opens $VISUAL or $EDITOR. What you saved stays in a file when it cannot be saved at the service, and with --dry-run.',
      examples: [['In your editor', `${name} edit corner-bakery ${example}`]],
      operations: [operations.get, operations.save],
      write: true,
      arguments: { website, document },
      run: async (context, args) => {
        const { editJson } = await import('../editor.js');
        const { id, all } = await found(context, args.website);
        const before = await all.get(id, args.document);
        await editJson(context, args.document, before.body, (body) =>
          change(
            context,
            (options) => all.save(id, args.document, { baseHash: before.hash, body }, options),
            (saved) => ({ said: `${saved.id} is saved.`, value: saved.hash }),
          ),
        );
      },
    }),
    command({
      name: `${name} save`,
      summary: `Save a ${what} document from a file`,
      description:
        'Over the version that is there now, or the one that --base names: then somebody else’s change in between is not lost.',
      examples: [
        ['From a file', `${name} save corner-bakery ${example} --file ${example}.json`],
        ['From standard input, over the version that was read', `${name} save corner-bakery ${example} --file - --base <hash>`],
      ],
      operations: [operations.save],
      write: true,
      arguments: { website, document },
      options: {
        file: required(text('A file with JSON, - for standard input', { short: 'f', placeholder: 'file', completes: 'file' })),
        base: text('Hash of the version that it was made from', { placeholder: 'hash' }),
      },
      run: async (context, args, { file, base }) => {
        const body = await readJson(context, file);
        const { id, all } = await found(context, args.website);
        const current = (): Promise<string | null> => hashOf(() => all.get(id, args.document));
        const baseHash =
          base === undefined ? await current() : await wholeHash(base, async () => [{ hash: (await current()) ?? '' }]);
        await change(
          context,
          (options) => all.save(id, args.document, { baseHash, body }, options),
          (saved) => ({ said: `${saved.id} is saved.`, value: saved.hash }),
        );
      },
    }),
    command({
      name: `${name} versions`,
      summary: `List the last 100 versions of a ${what} document`,
      examples: [['Who changed it, and when', `${name} versions corner-bakery ${example}`]],
      operations: [operations.versions],
      arguments: { website, document },
      options: listing,
      run: async (context, args, options) => {
        const { shortTime } = await import('../views/words.js');
        const { id, all } = await found(context, args.website);
        const versions = await readList(context, (page) => all.versions(id, args.document, page), options);
        const clock = { now: Date.now() };
        await context.output.list(
          versions,
          [
            { heading: 'saved', value: (one) => one.at, shown: (one) => shortTime(one.at, clock) },
            { heading: 'by', value: ({ actor }) => actor.name ?? actor.subject },
            { heading: 'hash', value: (one) => one.hash, shown: (one) => one.hash.slice(0, shortHash) },
          ],
          'It was never saved here.',
        );
      },
    }),
    command({
      name: `${name} restore`,
      summary: `Save a ${what} document as it was in a version`,
      examples: [['As it was', `${name} restore corner-bakery ${example} <hash>`]],
      operations: [operations.restore],
      write: true,
      arguments: { website, document, hash },
      run: async (context, args) => {
        const { id, all } = await found(context, args.website);
        const baseHash = await hashOf(() => all.get(id, args.document));
        const meant = await wholeHash(args.hash, () => all.versions(id, args.document, { limit: 200 }));
        await change(
          context,
          (options) => all.restore(id, args.document, { hash: meant, baseHash }, options),
          (saved) => ({ said: `${saved.id} is as it was.`, value: saved.hash }),
        );
      },
    }),
  ];
};

/** Commands on content and marketing documents. */
export const contentCommands: readonly Command[] = [
  ...commandsOf({
    name: 'content',
    what: 'content',
    operations: {
      list: 'listContent',
      get: 'getContent',
      save: 'saveContent',
      versions: 'listContentVersions',
      version: 'getContentVersion',
      restore: 'restoreContent',
    },
  }),
  command({
    name: 'content preview',
    summary: 'Build a draft of a website; its address works for an hour',
    examples: [['In the browser', 'content preview corner-bakery --open']],
    operations: ['previewContent'],
    write: true,
    arguments: { website },
    options: { open: flag('Open it in the browser') },
    run: async (context, args, options) => {
      const { doorstep, website: one } = await at(context, args.website);
      const preview = await change(
        context,
        (write) => doorstep.websites.content.preview(one.id, write),
        ({ url }) => ({ said: `The draft of ${one.name} is at ${url}`, value: url }),
      );
      if (preview === undefined || !options.open) return;
      const { default: open } = await import('open');
      await open(preview.url);
    },
  }),
  command({
    name: 'content publish',
    summary: 'Put saved content into the repository of a website, and deploy it',
    examples: [['Publish it', 'content publish corner-bakery']],
    operations: ['publishContent'],
    write: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: one } = await at(context, args.website);
      await deploy(context, one, (options) => doorstep.websites.content.publish(one.id, options));
    },
  }),
  ...commandsOf({
    name: 'marketing',
    what: 'marketing',
    operations: {
      list: 'listMarketing',
      get: 'getMarketing',
      save: 'saveMarketing',
      versions: 'listMarketingVersions',
      version: 'getMarketingVersion',
      restore: 'restoreMarketing',
    },
  }),
];
