import type { ChangedPart, DeliveryBlock } from '@doorstep/sdk';
import { clean } from '../output.js';
import { pad } from '../table.js';
import { widest, wrapped, type Drawing } from './drawing.js';
import { dayClock, longDay, shortDay, shortTime, spaced } from './words.js';

/** What a checkpoint is called, by its id. */
export type Labels = (id: string) => string;

/** One change of a delivery block, in words. */
interface Line {
  readonly label: string;
  readonly text: string;
}

const nothing = 'none';

const textOf = (value: unknown): string => clean(typeof value === 'string' ? value : JSON.stringify(value));

/** Two times of one day differ by the hour, which is in UTC as their day is. */
const dayOf = (drawing: Drawing, day: typeof longDay, from: unknown, to: unknown): string => {
  const shown = [from, to].map((at) => (typeof at === 'string' ? day(at, dayClock(drawing)) : nothing));
  if (shown[0] !== shown[1]) return shown.join(' → ');
  const timeOf = (at: unknown): string => (typeof at === 'string' ? `${shortTime(at, dayClock(drawing))} UTC` : nothing);
  return [from, to].map(timeOf).join(' → ');
};

const between = (from: unknown, to: unknown): string =>
  [from, to].map((value) => (value === null || value === undefined ? nothing : textOf(value))).join(' → ');

const checkpointText = (field: string, { from, to }: ChangedPart, drawing: Drawing): string | undefined => {
  if (field === 'status') return `${spaced(textOf(from))} → ${spaced(textOf(to))}`;
  if (field === 'dueAt') return `due ${dayOf(drawing, shortDay, from, to)}`;
  if (field === 'label') return `called ${between(from, to)}`;
  if (field === 'neededFromClient') return `needed: ${between(from, to)}`;
  if (field === 'order') return 'moved';
  // It follows from the status.
  if (field === 'completedAt') return undefined;
  return `${field} ${between(from, to)}`;
};

const lineOf = (change: ChangedPart, labels: Labels, drawing: Drawing): Line | undefined => {
  const { path, from, to } = change;
  if (path === 'estimatedCompletionAt') return { label: 'ready by', text: dayOf(drawing, longDay, from, to) };
  if (path === 'showPreviewUrl')
    return { label: 'preview', text: to === true ? 'hidden → shown to clients' : from === null ? 'hidden' : 'shown → hidden' };
  if (path === 'previewUrlOverride') return { label: 'preview address', text: between(from, to) };
  const [, id = '', field] = path.split('.');
  if (field !== undefined) {
    const text = checkpointText(field, change, drawing);
    return text === undefined ? undefined : { label: clean(labels(id)), text };
  }
  const checkpoint = (to ?? from) as { label: string; dueAt?: string } | null;
  const due = checkpoint?.dueAt === undefined ? '' : `, due ${shortDay(checkpoint.dueAt, dayClock(drawing))}`;
  return { label: clean(checkpoint?.label ?? id), text: to === null ? 'removed' : `added${due}` };
};

/** One line for each change: what, old → new. */
export const changeLines = (changes: readonly ChangedPart[], labels: Labels, drawing: Drawing, indent = '  '): string[] => {
  const lines = changes.flatMap((change) => lineOf(change, labels, drawing) ?? []);
  const column = widest(lines.map(({ label }) => label)) + 3;
  return lines.flatMap(({ label, text }) => {
    const line = `${indent}${pad(label, column)}${text}`;
    // On a narrow terminal the change comes beneath its name.
    return line.length <= drawing.width ? [line] : [indent + label, ...wrapped(text, drawing.width, `${indent}  `)];
  });
};

/** Names of the checkpoints as they are, for changes that tell their ids only. */
export const labelsOf = (...blocks: (Pick<DeliveryBlock, 'checkpoints'> | undefined)[]): Labels => {
  const known = new Map(blocks.flatMap((block) => block?.checkpoints ?? []).map(({ id, label }) => [id, label]));
  return (id) => known.get(id) ?? id;
};
