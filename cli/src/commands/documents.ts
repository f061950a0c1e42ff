import { argument, command, defined, flag, text, website, type Command } from '../command.js';
import type { Context } from '../context.js';
import { deletedIdArgument, deleteKept, downloadOptions, fileArgument, upload } from './keptFiles.js';
import { at, byIdOrName, change, listing, readList, sorted } from './shared.js';

const document = argument('Id or name of the document', { placeholder: 'document' });

/** What commands that name a document begin with. */
const documentAt = async (context: Context, args: { readonly website: string; readonly document: string }) => {
  const { doorstep, website: found } = await at(context, args.website);
  const { documents } = doorstep.websites;
  const one = await byIdOrName(documents.list(found.id, { limit: 200 }), args.document, 'document');
  return { documents, found, one };
};

/** Commands on documents. */
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
    arguments: { website, file: fileArgument },
    options: { name: text('What it is called') },
    run: async (context, { website: slug, file }, { name }) => {
      const { doorstep, website: found } = await at(context, slug);
      const { documents } = doorstep.websites;
      await upload(context, { file, website: found }, (options) =>
        documents.upload(found.id, { file, ...defined({ name }) }, options),
      );
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
      const { documents, found, one } = await documentAt(context, args);
      const whole = await documents.get(found.id, one.id);
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
    options: downloadOptions,
    plain: true,
    run: async (context, args, options) => {
      const { download } = await import('../files.js');
      const { documents, found, one } = await documentAt(context, args);
      const { url } = await documents.url(found.id, one.id, { disposition: 'attachment' });
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
      const { documents, found, one } = await documentAt(context, args);
      await change(
        context,
        (options) => documents.rename(found.id, one.id, args.name, options),
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
      const { documents, found, one } = await documentAt(context, args);
      await deleteKept(context, { group: 'documents', website: found, one }, (options) =>
        documents.delete(found.id, one.id, options),
      );
    },
  }),
  command({
    name: 'documents undo-delete',
    summary: 'Bring a document back that was deleted within the last 30 days',
    examples: [['By its id', 'documents undo-delete corner-bakery <id>']],
    operations: ['restoreDocument'],
    write: true,
    arguments: { website, id: deletedIdArgument },
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
      const { documents, found, one } = await documentAt(context, args);
      const address = await documents.url(found.id, one.id, { disposition: inline ? 'inline' : 'attachment' });
      await context.output.view(
        address,
        () => [address.url],
        () => [[address.url]],
      );
    },
  }),
];
