/**
 * `delivery set`: what the options make of a delivery block, and how that differs from it.
 */
import type { ChangedPart, DeliveryBlock, ReplaceDeliveryRequest } from '@doorstep/sdk';
import { UsageError } from './command.js';

type CheckpointInput = NonNullable<ReplaceDeliveryRequest['checkpoints']>[number];

/** A value for one checkpoint. */
export interface ForCheckpoint {
  readonly id: string;
  /** Empty: none any more. */
  readonly value: string;
}

export interface DeliveryEdit {
  readonly readyBy?: string;
  readonly showPreview?: boolean;
  /** Empty: none any more. */
  readonly previewUrl?: string;
  readonly due: readonly ForCheckpoint[];
  readonly needed: readonly ForCheckpoint[];
  readonly labels: readonly ForCheckpoint[];
  /** Labels of new checkpoints, at the end. */
  readonly add: readonly string[];
  /** Ids. */
  readonly remove: readonly string[];
}

/** `qa=28 Nov`. @throws UsageError */
export const readForCheckpoint = (text: string): ForCheckpoint => {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`"${text}" is not of the form <checkpoint>=<value>`);
  return { id: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
};

/** Longest id of a checkpoint. */
const maxIdLength = 64;

/** Lower case, dashes, of one kind with the ids that there are. */
const idFor = (label: string, taken: ReadonlySet<string>): string => {
  const base =
    label
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[\u0300-\u036f]/g, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'checkpoint';
  const withEnd = (end: string): string => base.slice(0, maxIdLength - end.length).replace(/-+$/, '') + end;
  let id = withEnd('');
  for (let number = 2; taken.has(id); number += 1) id = withEnd(`-${String(number)}`);
  return id;
};

const editCheckpoints = (before: readonly CheckpointInput[], edit: DeliveryEdit): CheckpointInput[] => {
  const kept = new Map(before.map((checkpoint) => [checkpoint.id, checkpoint]));
  for (const label of edit.add) {
    const id = idFor(label, new Set(kept.keys()));
    const order = Math.max(0, ...[...kept.values()].map((checkpoint) => checkpoint.order)) + 10;
    kept.set(id, { id, label, order, status: 'pending' });
  }
  const of = (id: string): CheckpointInput => {
    const checkpoint = kept.get(id);
    if (checkpoint !== undefined) return checkpoint;
    const ids = [...kept.keys()].join(', ');
    throw new UsageError(`There is no checkpoint "${id}". There ${kept.size === 1 ? 'is' : 'are'}: ${ids || 'none'}`);
  };
  for (const id of edit.remove) {
    of(id);
    kept.delete(id);
  }
  for (const { id, value } of edit.labels) kept.set(id, { ...of(id), label: value });
  for (const { id, value } of edit.due) {
    const { dueAt: _, ...checkpoint } = of(id);
    kept.set(id, value === '' ? checkpoint : { ...checkpoint, dueAt: value });
  }
  for (const { id, value } of edit.needed) {
    const { neededFromClient: _, ...checkpoint } = of(id);
    kept.set(id, value === '' ? checkpoint : { ...checkpoint, neededFromClient: value });
  }
  return [...kept.values()];
};

/**
 * The body that makes the block so. What is not edited stays as it is.
 * @throws UsageError when a checkpoint is named that is not there
 */
export const editDelivery = (
  before: Pick<DeliveryBlock, 'estimatedCompletionAt' | 'showPreviewUrl' | 'checkpoints'>,
  edit: DeliveryEdit,
): ReplaceDeliveryRequest => {
  const touches = [edit.due, edit.needed, edit.labels, edit.add, edit.remove].some((edits) => edits.length > 0);
  return {
    estimatedCompletionAt: edit.readyBy ?? before.estimatedCompletionAt,
    showPreviewUrl: edit.showPreview ?? before.showPreviewUrl,
    ...(edit.previewUrl !== undefined && { previewUrlOverride: edit.previewUrl }),
    ...(touches && { checkpoints: editCheckpoints(before.checkpoints, edit) }),
  };
};

const parts = ['status', 'label', 'order', 'dueAt', 'neededFromClient'] as const;

const checkpointChanges = (before: readonly CheckpointInput[], after: readonly CheckpointInput[]): ChangedPart[] => {
  const then = new Map(after.map((checkpoint) => [checkpoint.id, checkpoint]));
  const was = new Set(before.map(({ id }) => id));
  return [
    ...before.flatMap((from): ChangedPart[] => {
      const to = then.get(from.id);
      if (to === undefined) return [{ path: `checkpoints.${from.id}`, from, to: null }];
      return parts.flatMap((part) => {
        const values = { from: from[part] ?? null, to: to[part] ?? null };
        return values.from === values.to ? [] : [{ path: `checkpoints.${from.id}.${part}`, ...values }];
      });
    }),
    ...after.filter(({ id }) => !was.has(id)).map((to) => ({ path: `checkpoints.${to.id}`, from: null, to })),
  ];
};

/** How the body differs from the block, in the form of the history. */
export const changesOf = (before: DeliveryBlock, body: ReplaceDeliveryRequest): ChangedPart[] => {
  const changes: ChangedPart[] = [];
  const compare = (path: string, from: unknown, to: unknown): void => {
    if (from !== to) changes.push({ path, from, to });
  };
  if (body.estimatedCompletionAt !== undefined)
    compare('estimatedCompletionAt', before.estimatedCompletionAt, body.estimatedCompletionAt);
  if (body.showPreviewUrl !== undefined) compare('showPreviewUrl', before.showPreviewUrl, body.showPreviewUrl);
  if (body.previewUrlOverride !== undefined)
    compare(
      'previewUrlOverride',
      before.previewUrlOverride ?? null,
      body.previewUrlOverride === '' ? null : body.previewUrlOverride,
    );
  return body.checkpoints === undefined ? changes : [...changes, ...checkpointChanges(before.checkpoints, body.checkpoints)];
};
