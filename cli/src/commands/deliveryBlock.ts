import type { DeliveryBlock, Doorstep, Website } from '@doorstep/sdk';
import {
  argument,
  choiceArgument,
  command,
  defined,
  flag,
  list,
  Refusal,
  text,
  UsageError,
  website,
  type Argument,
  type Command,
} from '../command.js';
import type { Context } from '../context.js';
import { at, change, readJson } from './shared.js';

const statuses = ['pending', 'in_progress', 'done'] as const;
const checkpoint: Argument<string> = argument('Id of the checkpoint, such as qa', { placeholder: 'checkpoint' });

const readRevision = (given: string): number => {
  if (!/^\d+$/.test(given)) throw new UsageError(`"${given}" is not a revision: a whole number, as in delivery history`);
  return Number(given);
};

type EditedFields = 'estimatedCompletionAt' | 'showPreviewUrl' | 'checkpoints';

/** The block with its ETag; undefined where delivery is not set up yet. */
const readBlock = async (
  doorstep: Doorstep,
  id: string,
): Promise<{ block: DeliveryBlock; etag: string | undefined } | undefined> => {
  const { DoorstepError } = await import('@doorstep/sdk');
  try {
    const { data, response } = await doorstep.websites.delivery.get(id).withResponse();
    return { block: data, etag: response.headers.get('etag') ?? undefined };
  } catch (error) {
    if (error instanceof DoorstepError && error.code === 'delivery_not_set_up') return undefined;
    throw error;
  }
};

/** What a delivery begins with, which the service says: its six checkpoints, ready in 30 days. */
const firstBlock = async (doorstep: Doorstep, id: string): Promise<Pick<DeliveryBlock, EditedFields>> => {
  const { events } = await doorstep.websites.delivery.replace(id, {}, { dryRun: true });
  const [setUp] = events;
  if (setUp === undefined) throw new Refusal('The service did not say what it would set up.');
  return setUp.data as Pick<DeliveryBlock, EditedFields>;
};

/** Where a checkpoint is not there: the refusal with those that are. */
const namingCheckpoints = async (error: unknown, doorstep: Doorstep, id: string, typed: string): Promise<unknown> => {
  const { DoorstepError } = await import('@doorstep/sdk');
  if (!(error instanceof DoorstepError) || error.code !== 'delivery_checkpoint_not_found') return error;
  const { nearest } = await import('../nearest.js');
  const ids = (await doorstep.websites.delivery.get(id)).checkpoints.map((one) => one.id);
  const meant = nearest(typed, ids);
  return new Refusal(
    `${error.message}.${meant === undefined ? '' : ` Did you mean ${meant}?`} There are: ${ids.join(', ') || 'none'}.`,
    { cause: error },
  );
};

/** Prints where a delivery stands, or the block as JSON. */
export const showBlock = async ({ output }: Context, { name }: Website, block: DeliveryBlock): Promise<void> => {
  const { deliveryLines } = await import('../views/delivery.js');
  const { drawingFor } = await import('../views/drawing.js');
  if (output.isJson) await output.json(block);
  else output.lines(deliveryLines(name, block, drawingFor(output)));
};

const readyByIn = (events: readonly { readonly data: Readonly<Record<string, unknown>> }[]): string => {
  const time = events.map(({ data }) => data.estimatedCompletionAt).find((one) => typeof one === 'string');
  if (time === undefined) throw new Refusal('The service did not say what it would do.');
  return time;
};

/** Commands that change the delivery block of a website. */
export const deliveryBlockCommands: readonly Command[] = [
  command({
    name: 'delivery set',
    summary: 'Set up the delivery of a website, or change it',
    description:
      'What is not named stays as it is; a reason may come alone. Dates are written like "22 Dec", "2026-12-22", "in 30 days" or "+2w"; a day means 12:00 UTC. When somebody else saved in between, nothing is changed.',
    examples: [
      [
        'Move the day it is ready by, with a reason',
        'delivery set corner-bakery --ready-by "22 Dec" --reason "The photos come a week later."',
      ],
      ['What would change', 'delivery set corner-bakery --ready-by "in 30 days" --dry-run'],
      [
        'A deadline, and what the client has to send',
        'delivery set corner-bakery --due "content-loaded=28 Nov" --needed "content-loaded=three photos"',
      ],
      ['Another checkpoint', 'delivery set corner-bakery --add "Photos chosen" --due "photos-chosen=+2w"'],
      ['Set it up with the six checkpoints', 'delivery set corner-bakery'],
    ],
    operations: ['getDelivery', 'replaceDelivery'],
    write: true,
    arguments: { website },
    options: {
      readyBy: text('The day it is ready by', { placeholder: 'date' }),
      reason: text('Why; clients read it beside the change'),
      private: flag('Keep the reason from clients'),
      showPreview: flag('Show the preview to clients'),
      hidePreview: flag('Hide the preview from clients'),
      previewUrl: text('Address of the preview; "" for the one of the latest deployment', {
        placeholder: 'url',
        mayBeEmpty: true,
      }),
      due: list('Deadline of a checkpoint; without a date it has none', { placeholder: 'checkpoint=date' }),
      needed: list('What the client has to send for a checkpoint', { placeholder: 'checkpoint=text' }),
      label: list('What a checkpoint is called', { placeholder: 'checkpoint=text' }),
      add: list('Add a checkpoint at the end', { placeholder: 'label' }),
      remove: list('Remove a checkpoint', { placeholder: 'checkpoint' }),
      checkpoints: text('A file with all checkpoints as JSON, - for standard input', { placeholder: 'file', completes: 'file' }),
    },
    run: async (context, args, options) => {
      const { editDelivery, changesOf, readForCheckpoint } = await import('../deliveryEdit.js');
      const { readOwnDate } = await import('../dates.js');
      const { changeLines, labelsOf } = await import('../views/changes.js');
      const { clean } = await import('../output.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { count, dayClock, fullDay } = await import('../views/words.js');
      const { output } = context;
      const drawing = drawingFor(output);

      // The change that is printed says which date was understood.
      const understood = (given: string): string => readOwnDate(given, drawing, 'future');
      if (options.showPreview && options.hidePreview)
        throw new UsageError('--show-preview and --hide-preview exclude each other');
      const edits = [options.due, options.needed, options.label, options.add, options.remove];
      if (options.checkpoints !== undefined && edits.some((given) => given.length > 0))
        throw new UsageError('--checkpoints excludes --due, --needed, --label, --add and --remove: the file says all of it');
      if (options.private && options.reason === undefined) throw new UsageError('--private is for a --reason');
      const edit = {
        ...defined({
          readyBy: options.readyBy === undefined ? undefined : understood(options.readyBy),
          showPreview: options.showPreview ? true : options.hidePreview ? false : undefined,
          previewUrl: options.previewUrl,
        }),
        due: options.due.map(readForCheckpoint).map(({ id, value }) => ({ id, value: value === '' ? '' : understood(value) })),
        needed: options.needed.map(readForCheckpoint),
        labels: options.label.map(readForCheckpoint),
        add: options.add,
        remove: options.remove,
      };
      const file = options.checkpoints === undefined ? undefined : await readJson(context, options.checkpoints);

      const { doorstep, website: found } = await at(context, args.website);
      const before = await readBlock(doorstep, found.id);
      const body = {
        ...editDelivery(before?.block ?? (await firstBlock(doorstep, found.id)), edit),
        // Checked by the service.
        ...(file !== undefined && { checkpoints: file as NonNullable<ReturnType<typeof editDelivery>['checkpoints']> }),
        ...(options.reason !== undefined && { reason: options.reason, reasonVisible: !options.private }),
      };
      // Looked at once the service has taken the body: a file may hold anything.
      const changesMade = (): ReturnType<typeof changesOf> => (before === undefined ? [] : changesOf(before.block, body));
      const aside =
        options.reason === undefined
          ? ''
          : options.private
            ? '   (clients do not read the reason)'
            : '   (clients read the reason)';
      const lines = (): string[] => {
        const [first = `  “${clean(options.reason ?? '')}”`, ...others] = changeLines(
          changesMade(),
          labelsOf(before?.block),
          drawing,
        );
        return [first + aside, ...others];
      };
      const where = (revision: number | undefined): string =>
        revision === undefined ? found.slug : `${found.slug} (revision ${String(revision)})`;
      /** "Changed 2 things", or "Gave a reason" alone. */
      const what = (gave: string, changed: string): string => {
        const { length } = changesMade();
        return length === 0 ? `${gave} a reason` : `${changed} ${count(length, 'thing')}`;
      };

      const ifMatch = before?.etag === undefined ? {} : { ifMatch: before.etag };
      const after = await context.write(
        (write) => doorstep.websites.delivery.replace(found.id, body, { ...write, ...ifMatch }),
        (events) => {
          if (before === undefined)
            return [`Would set up the delivery of ${found.slug}, ready by ${fullDay(readyByIn(events), dayClock(drawing))}.`];
          if (events.length === 0) return [`Would change nothing at ${where(before.block.revision)}.`];
          return [`Would ${what('give', 'change')} at ${where(before.block.revision)}:`, ...lines()];
        },
      );
      if (context.globals.dryRun || after === undefined) return;
      if (output.isJson) await output.json(after);
      if (before === undefined) {
        output.done(`The delivery of ${found.slug} is set up.`);
        if (!output.isJson) await showBlock(context, found, after);
        return;
      }
      if (after.revision === before.block.revision) {
        output.done(`Changed nothing at ${where(after.revision)}.`);
        return;
      }
      output.done(`${what('Gave', 'Changed')} at ${where(after.revision)}:`);
      if (!output.isJson) output.lines(lines());
    },
  }),
  command({
    name: 'delivery checkpoint',
    summary: 'Set the status of a checkpoint',
    examples: [
      ['It is done', 'delivery checkpoint corner-bakery qa done'],
      ['It is being worked on', 'delivery checkpoint corner-bakery qa in_progress'],
    ],
    operations: ['setCheckpointStatus'],
    write: true,
    arguments: { website, checkpoint, status: choiceArgument(statuses, 'How it stands') },
    run: async (context, args) => {
      const { changeLines, labelsOf } = await import('../views/changes.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { spaced } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const before = context.globals.dryRun ? await readBlock(doorstep, found.id) : undefined;
      await change(
        context,
        async (options) => {
          try {
            return await doorstep.websites.delivery.setCheckpointStatus(found.id, args.checkpoint, args.status, options);
          } catch (error) {
            throw await namingCheckpoints(error, doorstep, found.id, args.checkpoint);
          }
        },
        (block) => ({
          said: `${block.checkpoints.find(({ id }) => id === args.checkpoint)?.label ?? args.checkpoint} of ${found.slug}: ${spaced(args.status)}.`,
        }),
        (events) => {
          const was = before?.block.checkpoints.find(({ id }) => id === args.checkpoint);
          if (events.length === 0 || was === undefined) return [`Would change nothing at ${found.slug}.`];
          const changes = [{ path: `checkpoints.${args.checkpoint}.status`, from: was.status, to: args.status }];
          return [
            `Would change 1 thing at ${found.slug} (revision ${String(before?.block.revision)}):`,
            ...changeLines(changes, labelsOf(before?.block), drawingFor(context.output)),
          ];
        },
      );
    },
  }),
  command({
    name: 'delivery undo',
    summary: 'Take a change of a delivery back, with all changes after it',
    description:
      'The delivery becomes what it was before that change: each change after it is taken back too. The undo is itself a change.',
    examples: [['The change of revision 7, and those after it', 'delivery undo corner-bakery 7']],
    operations: ['getDelivery', 'undoDeliveryChange'],
    write: true,
    destructive: true,
    arguments: { website, revision: argument('Its revision, as in delivery history', { placeholder: 'revision' }) },
    run: async (context, args) => {
      const { changesOf } = await import('../deliveryEdit.js');
      const { changeLines, labelsOf } = await import('../views/changes.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { count } = await import('../views/words.js');
      const revision = readRevision(args.revision);
      const { doorstep, website: found } = await at(context, args.website);
      const before = await readBlock(doorstep, found.id);
      const later = before === undefined ? 0 : before.block.revision - revision;
      const undoing = `the change of revision ${String(revision)}${later > 0 ? ` and the ${count(later, 'change')} after it` : ''}`;
      if (later > 0) await context.confirm(`Take back ${undoing}?`);
      // A change in between would be taken back unseen.
      const ifMatch = before?.etag === undefined ? {} : { ifMatch: before.etag };
      await change(
        context,
        (options) => doorstep.websites.delivery.undo(found.id, revision, { ...options, ...ifMatch }),
        (block) => ({
          said:
            // The answer of an earlier run with the same key may be what the delivery was read at.
            block.revision === before?.block.revision && context.globals.idempotencyKey === undefined
              ? `Changed nothing at ${found.slug} (revision ${String(block.revision)}).`
              : `Took back ${undoing} (now revision ${String(block.revision)}).`,
        }),
        ([undone]) => {
          if (undone === undefined || before === undefined) return [`Would change nothing at ${found.slug}.`];
          const after = undone.data as Pick<DeliveryBlock, EditedFields | 'previewUrlOverride'>;
          const changes = changesOf(before.block, { ...after, previewUrlOverride: after.previewUrlOverride ?? '' });
          return [
            `Would change ${count(changes.length, 'thing')} at ${found.slug} (revision ${String(before.block.revision)}):`,
            ...changeLines(changes, labelsOf(after, before.block), drawingFor(context.output)),
          ];
        },
      );
    },
  }),
];
