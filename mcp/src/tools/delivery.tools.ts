import type {
  Checkpoint,
  DeliveryBlock,
  DeliveryReader,
  Doorstep,
  ReplaceDeliveryRequest,
  VisibleDeliveryChange,
  Website,
} from '@doorstep/sdk';
import { z } from 'zod';
import { counted, DateInput, dayOf } from '../dates.js';
import { isNotFound, isNotSetUp, ToolFault } from '../faults.js';
import { tool } from '../tool.js';
import {
  CheckpointStatus,
  compact,
  deliveryInWords,
  deliveryQuotes,
  DeliveryView,
  toDeliveryView,
  WebsiteArgument,
} from '../views.js';

interface CurrentDelivery {
  readonly website: Website;
  /** Undefined before it is set up. */
  readonly block?: DeliveryBlock;
  readonly etag?: string;
}

/** The block with its ETag: a change of it is refused when somebody else changed it in between. */
const loadDelivery = async (doorstep: Doorstep, named: string, signal: AbortSignal): Promise<CurrentDelivery> => {
  const website = await doorstep.websites.findListed(named, { signal });
  try {
    const { data, response } = await doorstep.websites.delivery.get(website.id, {}, { signal }).withResponse();
    const etag = response.headers.get('etag');
    return { website, block: data, ...(etag !== null && { etag }) };
  } catch (error) {
    if (isNotFound(error)) return { website };
    throw error;
  }
};

const notSetUp = (slug: string): ToolFault =>
  new ToolFault(`The delivery of ${slug} is not set up. Call plan_delivery to set it up.`);

/** The block as it was. @throws ToolFault where it was set up later: it is there, so nothing sets it up */
const loadDeliveryAt = async (
  doorstep: Doorstep,
  { id, slug }: Website,
  at: string,
  signal: AbortSignal,
): Promise<DeliveryBlock> => {
  try {
    return await doorstep.websites.delivery.get(id, { at }, { signal });
  } catch (error) {
    if (!isNotSetUp(error)) throw error;
    // Where there is none at all, this is refused with the next step.
    await doorstep.websites.delivery.get(id, {}, { signal });
    const time = `${dayOf(at)}, ${at.slice(11, 16)} UTC`;
    throw new ToolFault(
      `The delivery of ${slug} was not set up yet on ${time}. Call delivery_history without at for what there is.`,
    );
  }
};

const reasonArguments = {
  reason: z.string().min(1).max(500).optional().describe('Why it changes'),
  clientsSeeReason: z.boolean().default(false),
};

const Changed = z.object({ slug: z.string(), delivery: DeliveryView });

/** What came of a new date: it may be the one that there was. */
const moveInWords = (slug: string, before: DeliveryBlock, after: DeliveryBlock, now: Date): string => {
  const stands = deliveryInWords(after, now);
  if (after.revision === before.revision) return `Nothing changed at ${slug}: ${stands}.`;
  if (after.estimatedCompletionAt === before.estimatedCompletionAt)
    return `The date of ${slug} stays, and the reason is noted: ${stands}.`;
  return `The date of ${slug} moved from ${dayOf(before.estimatedCompletionAt)}: now ${stands}.`;
};

export const moveEta = tool({
  name: 'move_eta',
  title: 'Move the date',
  description:
    'Move the date by which a website will be ready (its ETA), with the reason. Everything else of the delivery stays. Clients see the date at once, and the reason when clientsSeeReason is true.',
  toolset: 'delivery',
  operations: ['getDelivery', 'replaceDelivery'],
  callers: ['admin'],
  effect: 'changes',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument, readyBy: DateInput, ...reasonArguments }),
  output: Changed.extend({ previous: z.string() }),
  run: async ({ doorstep, signal, now }, { website: named, readyBy, reason, clientsSeeReason }) => {
    const { website, block, etag } = await loadDelivery(doorstep, named, signal);
    if (block === undefined) throw notSetUp(website.slug);
    const changed = await doorstep.websites.delivery.replace(
      website.id,
      {
        estimatedCompletionAt: readyBy,
        showPreviewUrl: block.showPreviewUrl,
        ...(reason !== undefined && { reason, reasonVisible: clientsSeeReason }),
      },
      { signal, ...(etag !== undefined && { ifMatch: etag }) },
    );
    return {
      text: moveInWords(website.slug, block, changed, now()),
      quotes: { name: website.name },
      data: { slug: website.slug, delivery: toDeliveryView(changed), previous: block.estimatedCompletionAt },
    };
  },
});

const CheckpointChange = z.strictObject({
  id: z.string().max(64).describe('Of one that there is, or a new one: letters, digits, dashes'),
  label: z.string().max(200).optional().describe('Needed for a new one'),
  due: DateInput.optional(),
  needed: z.string().max(300).optional().describe('From the client; empty: nothing'),
  order: z.int().optional().describe('Default: last'),
});

export const planDelivery = tool({
  name: 'plan_delivery',
  title: 'Set up or change the delivery',
  description:
    'Set up the delivery of a website (six usual checkpoints: kickoff, design-approved, initial-deploy, content-loaded, qa, launch), or change it: add or change checkpoints, their due dates and what is needed from the client, remove some, show the preview to clients. What is not named stays. Removing checkpoints has to be confirmed.',
  toolset: 'delivery',
  operations: ['getDelivery', 'replaceDelivery'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: false,
  input: z.object({
    website: WebsiteArgument,
    readyBy: DateInput.optional().describe('Default at set-up: in 30 days'),
    checkpoints: z.array(CheckpointChange).max(40).optional(),
    remove: z.array(z.string()).max(40).optional().describe('Ids of checkpoints'),
    showPreview: z.boolean().optional(),
    previewUrl: z.string().optional().describe('Instead of the latest deployment; empty: the latest'),
    ...reasonArguments,
  }),
  output: Changed,
  run: async ({ doorstep, signal, now, confirm }, { website: named, checkpoints = [], remove = [], ...plan }) => {
    const { website, block, etag } = await loadDelivery(doorstep, named, signal);
    const present = block?.checkpoints ?? (await usualCheckpoints(doorstep, website.id, signal));
    const missing = remove.filter((id) => !present.some((one) => one.id === id));
    if (missing.length > 0)
      throw new ToolFault(`Not a checkpoint: ${missing.join(', ')}. There are: ${present.map(({ id }) => id).join(', ')}.`);

    const showPreviewUrl = plan.showPreview ?? block?.showPreviewUrl;
    const estimatedCompletionAt = plan.readyBy ?? block?.estimatedCompletionAt;
    const request: ReplaceDeliveryRequest = {
      ...(estimatedCompletionAt !== undefined && { estimatedCompletionAt }),
      ...(showPreviewUrl !== undefined && { showPreviewUrl }),
      ...(plan.previewUrl !== undefined && { previewUrlOverride: plan.previewUrl }),
      ...(plan.reason !== undefined && { reason: plan.reason, reasonVisible: plan.clientsSeeReason }),
      checkpoints: changeCheckpoints(present, checkpoints, remove),
    };
    const options = { signal, ...(etag !== undefined && { ifMatch: etag }) };
    let once = {};
    if (block !== undefined && remove.length > 0) {
      await doorstep.websites.delivery.replace(website.id, request, { ...options, dryRun: true });
      const removed = present.filter(({ id }) => remove.includes(id));
      const decision = await confirm({
        effects: removed.map(
          ({ id, status }) => `The checkpoint ${id} (${status}) is removed from the delivery of ${website.slug}.`,
        ),
        targets: [website.id, block.revision],
        quotes: { website: website.name, checkpoints: removed.map(({ id, label }) => ({ id, label })) },
      });
      if (!decision.confirmed) return decision;
      once = { idempotencyKey: decision.idempotencyKey('replace') };
    }
    const changed = await doorstep.websites.delivery.replace(website.id, request, { ...options, ...once });
    const what =
      block === undefined
        ? `The delivery of ${website.slug} is set up`
        : changed.revision === block.revision
          ? `Nothing changed at ${website.slug}`
          : `The delivery of ${website.slug} is changed`;
    return {
      text: `${what}: ${deliveryInWords(changed, now())}.`,
      quotes: { name: website.name, ...deliveryQuotes(changed) },
      data: { slug: website.slug, delivery: toDeliveryView(changed) },
    };
  },
});

/** Those that the service seeds a delivery with: a dry run of the set-up lists them. */
const usualCheckpoints = async (doorstep: Doorstep, websiteId: string, signal: AbortSignal): Promise<readonly Checkpoint[]> => {
  const { events } = await doorstep.websites.delivery.replace(websiteId, {}, { signal, dryRun: true });
  return events.flatMap(({ data }) => (data.checkpoints ?? []) as readonly Checkpoint[]);
};

/** @throws ToolFault for a new checkpoint without a label */
const changeCheckpoints = (
  present: readonly Checkpoint[],
  changes: readonly z.output<typeof CheckpointChange>[],
  remove: readonly string[],
): NonNullable<ReplaceDeliveryRequest['checkpoints']> => {
  const kept = present.filter(({ id }) => !remove.includes(id)).map(({ completedAt: _, ...checkpoint }) => checkpoint);
  const byId = new Map(kept.map((checkpoint) => [checkpoint.id, checkpoint]));
  let last = Math.max(0, ...kept.map(({ order }) => order));
  for (const { id, label, due, needed, order } of changes) {
    const before = byId.get(id);
    if (before === undefined && label === undefined)
      throw new ToolFault(`The checkpoint ${id} is new: give it a label. There are: ${[...byId.keys()].join(', ')}.`);
    const { neededFromClient: neededBefore, ...checkpoint } = before ?? {
      id,
      label: label ?? id,
      order: (last += 10),
      status: 'pending' as const,
    };
    const neededFromClient = needed ?? neededBefore ?? '';
    byId.set(id, {
      ...checkpoint,
      ...compact({ label, dueAt: due, order }),
      ...(neededFromClient !== '' && { neededFromClient }),
    });
  }
  return [...byId.values()].sort((one, other) => one.order - other.order);
};

export const setCheckpoint = tool({
  name: 'set_checkpoint',
  title: 'Set the status of a checkpoint',
  description: 'Set a checkpoint of a delivery to pending, in_progress or done. website_status lists the ids.',
  toolset: 'delivery',
  operations: ['setCheckpointStatus', 'getDelivery'],
  callers: ['admin'],
  effect: 'changes',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument, checkpoint: z.string().describe('Id'), status: CheckpointStatus }),
  output: Changed,
  run: async ({ doorstep, signal, now }, { website: named, checkpoint, status }) => {
    const { website, block } = await loadDelivery(doorstep, named, signal);
    if (block === undefined) throw notSetUp(website.slug);
    if (!block.checkpoints.some(({ id }) => id === checkpoint))
      throw new ToolFault(`There is no such checkpoint. There are: ${block.checkpoints.map(({ id }) => id).join(', ')}.`);
    const changed = await doorstep.websites.delivery.setCheckpointStatus(website.id, checkpoint, status, { signal });
    return {
      text: `${checkpoint} of ${website.slug} is ${status.replace('_', ' ')}: ${deliveryInWords(changed, now())}.`,
      quotes: { name: website.name },
      data: { slug: website.slug, delivery: toDeliveryView(changed) },
    };
  },
});

export const deliveryHistory = tool({
  name: 'delivery_history',
  title: 'What changed in a delivery',
  description:
    'List the changes of a delivery, newest first: what, when, by whom, and why; for clients without people. With at: the delivery as it was then. Gives the revisions that undo_delivery_change takes.',
  toolset: 'delivery',
  operations: ['getDeliveryHistory', 'listDeliveryChanges', 'listDeliveryReaders', 'getDelivery'],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({
    website: WebsiteArgument,
    since: z.int().min(0).optional().describe('Only after this revision'),
    at: DateInput.optional(),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.object({
    slug: z.string(),
    changes: z.array(
      z.object({
        revision: z.number(),
        at: z.string(),
        by: z.string().optional(),
        reason: z.string().optional(),
        clientsSeeReason: z.boolean().optional(),
        changes: z.array(z.object({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() })),
      }),
    ),
    then: DeliveryView.optional(),
    readers: z
      .array(z.object({ name: z.string(), revision: z.number(), last: z.string() }))
      .optional()
      .describe('Who looked at which revision last'),
  }),
  run: async ({ doorstep, caller, signal }, { website: named, since = -1, at, limit }) => {
    const website = await doorstep.websites.findListed(named, { signal });
    const then = at === undefined ? undefined : await loadDeliveryAt(doorstep, website, at, signal);
    const admin = caller.role === 'admin';
    const all: (VisibleDeliveryChange & { readonly by?: string; readonly clientsSeeReason?: boolean })[] = [];
    if (admin)
      for await (const change of doorstep.websites.delivery.history(website.id, { limit: 200 }, { signal }))
        all.push({
          ...change,
          by: change.actor.name ?? change.actor.subject,
          // A mail to clients may only say what they may read.
          ...(change.reason !== undefined && { clientsSeeReason: change.reasonVisible ?? false }),
        });
    else
      for await (const change of doorstep.websites.delivery.changes(
        website.id,
        { since: Math.max(since, 0), limit: 200 },
        { signal },
      ))
        all.push(change);
    const found = all
      .filter(({ revision, at: changedAt }) => revision > since && (at === undefined || changedAt <= at))
      .sort((one, other) => other.revision - one.revision);
    const changes = found.slice(0, limit).map(({ revision, at: changedAt, by, reason, clientsSeeReason, changes: parts }) =>
      compact({
        revision,
        at: changedAt,
        by,
        reason,
        clientsSeeReason,
        changes: parts.map(({ path, from, to }) => compact({ path, from, to })),
      }),
    );
    const more = found.length > limit ? '; there are more: raise the limit' : '';
    const readers: DeliveryReader[] = [];
    if (admin)
      for await (const reader of doorstep.websites.delivery.readers(website.id, { limit: 200 }, { signal })) readers.push(reader);
    return {
      text: `${website.slug}: ${counted(changes.length, 'change')}${then === undefined ? '' : ` up to ${at ?? ''}`}${more}.`,
      quotes: {
        name: website.name,
        changes,
        ...(then !== undefined && { then: deliveryQuotes(then) }),
        ...(readers.length > 0 && {
          readers: readers.map(({ name, email, subject, revision }) => ({ who: name ?? email ?? subject, revision })),
        }),
      },
      data: {
        slug: website.slug,
        changes,
        ...(then !== undefined && { then: toDeliveryView(then) }),
        ...(readers.length > 0 && {
          readers: readers.map(({ name, email, subject, revision, lastAt }) => ({
            name: name ?? email ?? subject,
            revision,
            last: lastAt,
          })),
        }),
      },
    };
  },
});

export const undoDeliveryChange = tool({
  name: 'undo_delivery_change',
  title: 'Undo a change of a delivery',
  description:
    'Bring a delivery back to what it was before a change. All changes after it are undone too; the undo is a change itself. delivery_history lists the revisions.',
  toolset: 'delivery',
  operations: ['undoDeliveryChange', 'getDeliveryHistory', 'getDelivery'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument, revision: z.int().min(0) }),
  output: Changed,
  run: async ({ doorstep, signal, now, confirm }, { website: named, revision }) => {
    const { website, block, etag } = await loadDelivery(doorstep, named, signal);
    if (block === undefined) throw notSetUp(website.slug);
    const ifMatch = etag === undefined ? {} : { ifMatch: etag };
    const { events } = await doorstep.websites.delivery.undo(website.id, revision, { signal, ...ifMatch, dryRun: true });
    const undone = [];
    for await (const change of doorstep.websites.delivery.history(website.id, { limit: 200 }, { signal }))
      if (change.revision >= revision) undone.push(change);
    const decision = await confirm({
      effects:
        events.length === 0
          ? [`Nothing changes: the delivery of ${website.slug} is as it was before revision ${String(revision)} already.`]
          : [
              `The delivery of ${website.slug} (now revision ${String(block.revision)}) becomes what it was before revision ${String(revision)}.`,
              ...undone.map(
                ({ revision: one, at, changes }) =>
                  `Undone: revision ${String(one)} of ${dayOf(at)} (${counted(changes.length, 'change')}).`,
              ),
            ],
      targets: [website.id, block.revision],
      quotes: { website: website.name, undone: undone.map(({ revision: one, changes }) => ({ revision: one, changes })) },
    });
    if (!decision.confirmed) return decision;
    const changed = await doorstep.websites.delivery.undo(website.id, revision, {
      signal,
      ...ifMatch,
      idempotencyKey: decision.idempotencyKey('undo'),
    });
    return {
      text: `The delivery of ${website.slug} is as it was before revision ${String(revision)}: ${deliveryInWords(changed, now())}.`,
      quotes: { name: website.name, ...deliveryQuotes(changed) },
      data: { slug: website.slug, delivery: toDeliveryView(changed) },
    };
  },
});
