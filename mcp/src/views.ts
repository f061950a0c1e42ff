import type { DeliveryBlock, ProvisioningJob, Website } from '@doorstep/sdk';
import { z } from 'zod';
import { counted, dayOf, distance, isPast } from './dates.js';

/** A website as tools name it. */
export const WebsiteArgument = z.string().min(1).max(100).describe('Slug or id');

export const CheckpointStatus = z.enum(['pending', 'in_progress', 'done']);

const CheckpointView = z.object({
  id: z.string(),
  label: z.string(),
  status: CheckpointStatus,
  due: z.string().optional(),
  completed: z.string().optional(),
  needed: z.string().optional(),
});

export const DeliveryView = z.object({
  readyBy: z.string(),
  showPreview: z.boolean(),
  previewUrl: z.string().optional(),
  revision: z.number(),
  checkpoints: z.array(CheckpointView),
});

/** Leaves out what is undefined. */
export const compact = <Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };

/** About what an assistant can read at once, in characters of JSON. */
export const longestAnswer = 24_000;

/** The first of them: as many as an assistant can read at once. */
export const fitting = <Item>(items: readonly Item[]): Item[] => {
  let length = 0;
  const end = items.findIndex((item) => (length += JSON.stringify(item).length) > longestAnswer);
  return items.slice(0, end === -1 ? items.length : end);
};

export const toDeliveryView = (block: DeliveryBlock): z.input<typeof DeliveryView> =>
  compact({
    readyBy: block.estimatedCompletionAt,
    showPreview: block.showPreviewUrl,
    previewUrl: block.previewUrl,
    revision: block.revision,
    checkpoints: block.checkpoints.map(({ id, label, status, dueAt, completedAt, neededFromClient }) =>
      compact({ id, label, status, due: dueAt, completed: completedAt, needed: neededFromClient }),
    ),
  });

/** `ready by 2026-12-22 (in 30 days), 3 of 6 checkpoints done, now: content-loaded`. */
export const deliveryInWords = (block: DeliveryBlock, now: Date): string => {
  const done = block.checkpoints.filter(({ status }) => status === 'done').length;
  const current = block.checkpoints.find(({ status }) => status === 'in_progress');
  const next = block.checkpoints.find(({ status }) => status === 'pending');
  const count = block.checkpoints.length;
  const late = (count === 0 || done < count) && isPast(block.estimatedCompletionAt, now);
  return [
    `ready by ${dayOf(block.estimatedCompletionAt)} (${distance(block.estimatedCompletionAt, now)}${late ? ': late' : ''})`,
    `${String(done)} of ${counted(count, 'checkpoint')} done`,
    ...(current !== undefined ? [`now: ${current.id}`] : next !== undefined ? [`next: ${next.id}`] : []),
  ].join(', ');
};

/** What people wrote in a delivery: labels, and what is needed of the client. */
export const deliveryQuotes = (block: DeliveryBlock): Readonly<Record<string, unknown>> => {
  const needed = block.checkpoints.filter(({ neededFromClient }) => neededFromClient !== undefined);
  return {
    checkpoints: block.checkpoints.map(({ id, label, status, dueAt }) =>
      compact({ id, label, status, due: dueAt && dayOf(dueAt) }),
    ),
    ...(needed.length > 0 && {
      neededFromClient: Object.fromEntries(needed.map(({ id, neededFromClient }) => [id, neededFromClient])),
    }),
  };
};

export const WebsiteView = z.object({
  slug: z.string(),
  id: z.string(),
  name: z.string(),
  status: z.string(),
  url: z.string().optional(),
  archived: z.boolean().optional(),
  role: z.string().optional().describe('Of the caller: owner, editor or viewer'),
});

export const toWebsiteView = ({ slug, id, name, status, url, archivedAt, via, role }: Website): z.input<typeof WebsiteView> =>
  compact({
    slug,
    id,
    name,
    status,
    url,
    archived: archivedAt === undefined ? undefined : true,
    role: via === 'owner' ? 'owner' : role,
  });

export const ProvisioningView = z.object({
  status: z.string(),
  step: z.string().optional().describe('The one that runs or failed'),
  reason: z.string().optional(),
});

export const toProvisioningView = (job: ProvisioningJob): z.input<typeof ProvisioningView> =>
  compact({
    status: job.status,
    step: job.steps.find(({ status }) => status === 'failed' || status === 'running')?.id,
    reason: job.reason,
  });
