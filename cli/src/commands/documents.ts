import { argument, choice, command, defined, flag, text, website, type Command } from '../command.js';
import { at, byIdOrName, change, listing, readList, sorted } from './shared.js';

const document = argument('Id or name of the document', { placeholder: 'document' });
const media = argument('Id or name of the image or video', { placeholder: 'media' });
const file = argument('The file', { placeholder: 'file', completes: 'file' });
const id = argument('Its id, as its deletion said', { placeholder: 'id' });

/** Commands on documents, images and videos. */
export const documentCommands: readonly Command[] = [
  command({
    name: 'documents upload',
    summary: 'Upload a document',
    examples: [
      ['By its own name', 'documents upload corner-bakery contract.pdf'],
      ['By another name', 'documents upload corner-bakery scan-0041.pdf --name Contract.pdf'],
    ],
    operations: ['uploadDocument'],
    write: true,
    arguments: { website, file },
    options: { name: text('What it is called') },
    run: async (context, args, { name }) => {
      const { showProgress } = await import('../progress.js');
      const { doorstep, website: found } = await at(context, args.website);
      const progress = showProgress(context, args.file);
      try {
        await change(
          context,
          (options) =>
            doorstep.websites.documents.upload(
              found.id,
              { file: args.file, ...defined({ name }) },
              { ...options, ...progress.options },
            ),
          (uploaded) => {
            progress.end();
            return { said: `${uploaded.name} is uploaded to ${found.name}.`, value: uploaded.id };
          },
        );
      } finally {
        progress.end();
      }
    },
  }),
  command({
    name: 'documents list',
    summary: 'List the documents of a website',
    examples: [['The newest first', 'documents list corner-bakery']],
    operations: ['listDocuments'],
    arguments: { website },
    options: { sort: sorted('name', 'size', 'createdAt'), ...listing },
    run: async (context, args, options) => {
      const { shortDay, size } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const sort = defined({ sort: options.sort as 'name' | undefined });
      const documents = await readList(
        context,
        (page) => doorstep.websites.documents.list(found.id, { ...sort, ...page }),
        options,
      );
      const clock = { now: Date.now() };
      await context.output.list(
        documents,
        [
          { heading: 'name', value: ({ name }) => name },
          { heading: 'size', value: (one) => one.size, shown: (one) => size(one.size), right: true },
          { heading: 'uploaded', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortDay(createdAt, clock) },
          { heading: 'id', value: (one) => one.id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No documents.',
      );
    },
  }),
  command({
    name: 'documents get',
    summary: 'Show what is known of a document',
    examples: [['By its name', 'documents get corner-bakery contract.pdf']],
    operations: ['getDocument'],
    arguments: { website, document },
    run: async (context, args) => {
      const { documentLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.documents.list(found.id, { limit: 200 }), args.document, 'document');
      const whole = await doorstep.websites.documents.get(found.id, one.id);
      await context.output.resource(whole, documentLines(whole));
    },
  }),
  command({
    name: 'documents download',
    summary: 'Download a document',
    examples: [
      ['Into this folder', 'documents download corner-bakery contract.pdf'],
      ['To standard output', 'documents download corner-bakery contract.pdf -o -'],
    ],
    operations: ['getDocumentAddress'],
    arguments: { website, document },
    options: {
      output: text('The file to write, - for standard output', { short: 'o', placeholder: 'file', completes: 'file' }),
      force: flag('Replace a file that is there'),
    },
    plain: true,
    run: async (context, args, options) => {
      const { download } = await import('../files.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.documents.list(found.id, { limit: 200 }), args.document, 'document');
      const { url } = await doorstep.websites.documents.url(found.id, one.id, { disposition: 'attachment' });
      await download(context, url, one, options);
    },
  }),
  command({
    name: 'documents rename',
    summary: 'Give a document another name',
    examples: [['Another name', 'documents rename corner-bakery scan-0041.pdf Contract.pdf']],
    operations: ['renameDocument'],
    write: true,
    arguments: { website, document, name: argument('What it is called from now on', { placeholder: 'name' }) },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.documents.list(found.id, { limit: 200 }), args.document, 'document');
      await change(
        context,
        (options) => doorstep.websites.documents.rename(found.id, one.id, args.name, options),
        (renamed) => ({ said: `${one.name} is called ${renamed.name}.`, value: renamed.id }),
      );
    },
  }),
  command({
    name: 'documents delete',
    summary: 'Delete a document; it can be brought back for 30 days',
    examples: [['By its name', 'documents delete corner-bakery contract.pdf']],
    operations: ['deleteDocument'],
    write: true,
    destructive: true,
    arguments: { website, document },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.documents.list(found.id, { limit: 200 }), args.document, 'document');
      await context.confirm(`Delete ${one.name}?`);
      await change(
        context,
        (options) => doorstep.websites.documents.delete(found.id, one.id, options),
        () => ({
          said: `${one.name} is deleted. To bring it back within 30 days: doorstep documents undo-delete ${found.slug} ${one.id}`,
        }),
      );
    },
  }),
  command({
    name: 'documents undo-delete',
    summary: 'Bring a document back that was deleted within the last 30 days',
    examples: [['By its id', 'documents undo-delete corner-bakery <id>']],
    operations: ['restoreDocument'],
    write: true,
    arguments: { website, id },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.documents.undoDelete(found.id, args.id, options),
        (restored) => ({ said: `${restored.name} is back.`, value: restored.id }),
      );
    },
  }),
  command({
    name: 'documents url',
    summary: 'Print an address of a document that works for 5 minutes',
    examples: [['To open in a browser', 'documents url corner-bakery contract.pdf --inline']],
    operations: ['getDocumentAddress'],
    arguments: { website, document },
    options: { inline: flag('To be shown, not saved: PDFs and images') },
    run: async (context, args, { inline }) => {
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.documents.list(found.id, { limit: 200 }), args.document, 'document');
      const address = await doorstep.websites.documents.url(found.id, one.id, { disposition: inline ? 'inline' : 'attachment' });
      await context.output.view(
        address,
        () => [address.url],
        () => [[address.url]],
      );
    },
  }),
  command({
    name: 'media upload',
    summary: 'Upload an image or a video',
    examples: [['With a description', 'media upload corner-bakery oven.jpg --alt "Bread in the oven"']],
    operations: ['uploadMedia'],
    write: true,
    arguments: { website, file },
    options: {
      alt: text('What it shows, for those who do not see it'),
      name: text('What it is called'),
    },
    run: async (context, args, { alt, name }) => {
      const { showProgress } = await import('../progress.js');
      const { doorstep, website: found } = await at(context, args.website);
      const progress = showProgress(context, args.file);
      try {
        await change(
          context,
          (options) =>
            doorstep.websites.media.upload(
              found.id,
              { file: args.file, ...defined({ alt, name }) },
              { ...options, ...progress.options },
            ),
          (uploaded) => {
            progress.end();
            return { said: `${uploaded.name} is uploaded to ${found.name}.`, value: uploaded.id };
          },
        );
      } finally {
        progress.end();
      }
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
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.media.list(found.id, { limit: 200 }), args.media, 'image or video');
      const whole = await doorstep.websites.media.get(found.id, one.id);
      await context.output.resource(whole, mediaLines(whole));
    },
  }),
  command({
    name: 'media download',
    summary: 'Download an image or a video',
    examples: [['Into this folder', 'media download corner-bakery oven.jpg']],
    operations: ['getMediaAddress'],
    arguments: { website, media },
    options: {
      output: text('The file to write, - for standard output', { short: 'o', placeholder: 'file', completes: 'file' }),
      force: flag('Replace a file that is there'),
    },
    plain: true,
    run: async (context, args, options) => {
      const { download } = await import('../files.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.media.list(found.id, { limit: 200 }), args.media, 'image or video');
      const { url } = await doorstep.websites.media.url(found.id, one.id, { disposition: 'attachment' });
      await download(context, url, one, options);
    },
  }),
  command({
    name: 'media describe',
    summary: 'Say what an image shows, for those who do not see it',
    examples: [['In a few words', 'media describe corner-bakery oven.jpg "Bread in the oven"']],
    operations: ['describeMedia'],
    write: true,
    arguments: { website, media, alt: argument('What it shows; "" for nothing', { placeholder: 'description' }) },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.media.list(found.id, { limit: 200 }), args.media, 'image or video');
      await change(
        context,
        (options) => doorstep.websites.media.describe(found.id, one.id, args.alt === '' ? null : args.alt, options),
        (described) => ({ said: `${described.name} is described.`, value: described.id }),
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
      const { doorstep, website: found } = await at(context, args.website);
      const one = await byIdOrName(doorstep.websites.media.list(found.id, { limit: 200 }), args.media, 'image or video');
      await context.confirm(`Delete ${one.name}?`);
      await change(
        context,
        (options) => doorstep.websites.media.delete(found.id, one.id, options),
        () => ({
          said: `${one.name} is deleted. To bring it back within 30 days: doorstep media undo-delete ${found.slug} ${one.id}`,
        }),
      );
    },
  }),
  command({
    name: 'media undo-delete',
    summary: 'Bring an image or a video back that was deleted within the last 30 days',
    examples: [['By its id', 'media undo-delete corner-bakery <id>']],
    operations: ['restoreMedia'],
    write: true,
    arguments: { website, id },
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
