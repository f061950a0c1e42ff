import { argument, choice, command, defined, text, website, type Command } from '../command.js';
import type { Context } from '../context.js';
import { deletedIdArgument, deleteKept, downloadOptions, fileArgument, upload } from './keptFiles.js';
import { at, byIdOrName, change, listing, readList, sorted } from './shared.js';

const media = argument('Id or name of the image or video', { placeholder: 'media' });

/** What commands that name an image or a video begin with. */
const mediaAt = async (context: Context, args: { readonly website: string; readonly media: string }) => {
  const { doorstep, website: found } = await at(context, args.website);
  const { media: library } = doorstep.websites;
  const one = await byIdOrName(library.list(found.id, { limit: 200 }), args.media, 'image or video');
  return { library, found, one };
};

/** Commands on images and videos. */
export const mediaCommands: readonly Command[] = [
  command({
    name: 'media upload',
    summary: 'Upload an image or a video',
    examples: [['With a description', 'media upload corner-bakery oven.jpg --alt "Bread in the oven"']],
    operations: ['uploadMedia'],
    write: true,
    arguments: { website, file: fileArgument },
    options: {
      alt: text('What it shows, for those who do not see it', { mayBeEmpty: true }),
      name: text('What it is called'),
    },
    run: async (context, { website: slug, file }, { alt, name }) => {
      const { doorstep, website: found } = await at(context, slug);
      await upload(context, { file, website: found }, (options) =>
        doorstep.websites.media.upload(found.id, { file, ...defined({ alt, name }) }, options),
      );
    },
  }),
  command({
    name: 'media list',
    summary: 'List the images and videos of a website',
    examples: [['Images alone', 'media list corner-bakery --kind image']],
    operations: ['listMedia'],
    arguments: { website },
    options: { kind: choice(['image', 'video'], 'Only these'), sort: sorted('name', 'createdAt'), ...listing },
    run: async (context, args, options) => {
      const { shortDay, size } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const filter = defined({ kind: options.kind, sort: options.sort as 'name' | undefined });
      const all = await readList(context, (page) => doorstep.websites.media.list(found.id, { ...filter, ...page }), options);
      const clock = { now: Date.now() };
      await context.output.list(
        all,
        [
          { heading: 'name', value: ({ name }) => name },
          { heading: 'kind', value: ({ kind }) => kind },
          { heading: 'measures', value: ({ width, height }) => `${String(width)}x${String(height)}` },
          { heading: 'size', value: (one) => one.size, shown: (one) => size(one.size), right: true },
          { heading: 'description', value: ({ alt }) => alt },
          { heading: 'uploaded', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortDay(createdAt, clock) },
          { heading: 'id', value: (one) => one.id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No images and no videos.',
      );
    },
  }),
  command({
    name: 'media get',
    summary: 'Show what is known of an image or a video',
    examples: [['By its name', 'media get corner-bakery oven.jpg']],
    operations: ['getMedia'],
    arguments: { website, media },
    run: async (context, args) => {
      const { mediaLines } = await import('../views/resources.js');
      const { library, found, one } = await mediaAt(context, args);
      const whole = await library.get(found.id, one.id);
      await context.output.resource(whole, mediaLines(whole));
    },
  }),
  command({
    name: 'media download',
    summary: 'Download an image or a video',
    examples: [['Into this folder', 'media download corner-bakery oven.jpg']],
    operations: ['getMediaAddress'],
    arguments: { website, media },
    options: downloadOptions,
    plain: true,
    run: async (context, args, options) => {
      const { download } = await import('../files.js');
      const { library, found, one } = await mediaAt(context, args);
      const { url } = await library.url(found.id, one.id, { disposition: 'attachment' });
      await download(context, url, one, options);
    },
  }),
  command({
    name: 'media describe',
    summary: 'Say what an image shows, for those who do not see it',
    examples: [['In a few words', 'media describe corner-bakery oven.jpg "Bread in the oven"']],
    operations: ['describeMedia'],
    write: true,
    arguments: {
      website,
      media,
      alt: argument('What it shows; "" for nothing', { placeholder: 'description', mayBeEmpty: true }),
    },
    run: async (context, args) => {
      const { library, found, one } = await mediaAt(context, args);
      await change(
        context,
        (options) => library.describe(found.id, one.id, args.alt === '' ? null : args.alt, options),
        ({ id, name, alt }) => ({ said: `${name} ${alt === undefined ? 'has no description' : 'is described'}.`, value: id }),
      );
    },
  }),
  command({
    name: 'media delete',
    summary: 'Delete an image or a video; it can be brought back for 30 days',
    examples: [['By its name', 'media delete corner-bakery oven.jpg']],
    operations: ['deleteMedia'],
    write: true,
    destructive: true,
    arguments: { website, media },
    run: async (context, args) => {
      const { library, found, one } = await mediaAt(context, args);
      await deleteKept(context, { group: 'media', website: found, one }, (options) => library.delete(found.id, one.id, options));
    },
  }),
  command({
    name: 'media undo-delete',
    summary: 'Bring an image or a video back that was deleted within the last 30 days',
    examples: [['By its id', 'media undo-delete corner-bakery <id>']],
    operations: ['restoreMedia'],
    write: true,
    arguments: { website, id: deletedIdArgument },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.media.undoDelete(found.id, args.id, options),
        (restored) => ({ said: `${restored.name} is back.`, value: restored.id }),
      );
    },
  }),
];
