import type { ChangedPart, DeliveryChange } from '@doorstep/sdk';

/** A sentence about a change: which one, and what stands in it. */
export interface ChangeWords {
  readonly key:
    | 'setUp'
    | 'undone'
    | 'moved'
    | 'previewShown'
    | 'previewHidden'
    | 'overrideSet'
    | 'overrideGone'
    | 'reordered'
    | 'renumbered'
    | 'explained'
    | 'added'
    | 'removed'
    | 'done'
    | 'in_progress'
    | 'pending'
    | 'renamed'
    | 'dueSet'
    | 'dueMoved'
    | 'dueGone'
    | 'needed'
    | 'neededGone';
  readonly values: Readonly<Record<string, string | number>>;
}

/** The names of the steps by their ids. */
export type Labels = ReadonlyMap<string, string>;

const labelIn = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'label' in value && typeof value.label === 'string' ? value.label : undefined;

const stepOf = (path: string): { readonly id: string | undefined; readonly field: string | undefined } => {
  const [, id, field] = path.split('.');
  return { id, field };
};

/** The names after a change. */
const labelsAfter = (labels: Labels, { changes }: DeliveryChange): Labels => {
  const names = new Map(labels);
  for (const { path, to } of changes) {
    const { id, field } = stepOf(path);
    const name = field === 'label' ? String(to) : field === undefined ? labelIn(to) : undefined;
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return names;
};

/** A text, or nothing. */
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const stepWords = (label: string, field: string, { from, to }: ChangedPart, day: (time: string) => string): ChangeWords[] => {
  switch (field) {
    case 'status':
      return to === 'done' || to === 'in_progress' || to === 'pending' ? [{ key: to, values: { label } }] : [];
    case 'label':
      return [{ key: 'renamed', values: { from: text(from), to: text(to) } }];
    case 'dueAt':
      if (to === null) return [{ key: 'dueGone', values: { label } }];
      return from === null
        ? [{ key: 'dueSet', values: { label, to: day(text(to)) } }]
        : [{ key: 'dueMoved', values: { label, from: day(text(from)), to: day(text(to)) } }];
    case 'neededFromClient':
      return to === null ? [{ key: 'neededGone', values: { label } }] : [{ key: 'needed', values: { label, what: text(to) } }];
    default:
      // Its number, or when it was done: other parts of the same change say it.
      return [];
  }
};

const partWords = (part: ChangedPart, labels: Labels, day: (time: string) => string): ChangeWords[] => {
  const { path, from, to } = part;
  switch (path) {
    case 'estimatedCompletionAt':
      return [{ key: 'moved', values: { from: day(text(from)), to: day(text(to)) } }];
    case 'showPreviewUrl':
      return [{ key: to === true ? 'previewShown' : 'previewHidden', values: {} }];
    case 'previewUrlOverride':
      return to === null ? [{ key: 'overrideGone', values: {} }] : [{ key: 'overrideSet', values: { to: text(to) } }];
    case 'checkpoints':
      return [{ key: 'reordered', values: {} }];
    default: {
      const { id = '', field } = stepOf(path);
      if (field !== undefined) return stepWords(labels.get(id) ?? id, field, part, day);
      return to === null
        ? [{ key: 'removed', values: { label: labelIn(from) ?? id } }]
        : [{ key: 'added', values: { label: labelIn(to) ?? id } }];
    }
  }
};

const entryWords = (entry: DeliveryChange, labels: Labels, day: (time: string) => string): readonly ChangeWords[] => {
  const { type, changes, undid } = entry;
  if (type === 'DeliverySetUp') {
    const eta = changes.find(({ path }) => path === 'estimatedCompletionAt');
    const count = changes.filter(({ path }) => path.startsWith('checkpoints.')).length;
    return [{ key: 'setUp', values: { day: day(text(eta?.to)), count } }];
  }
  const words = changes.flatMap((part) => partWords(part, labels, day));
  if (undid !== undefined) return [{ key: 'undone', values: { revision: undid } }, ...words];
  // A reason may come alone; it stands below.
  return words.length > 0 ? words : [{ key: changes.length === 0 ? 'explained' : 'renumbered', values: {} }];
};

/**
 * Every change in words, by its revision.
 * @param oldestFirst the whole history: steps are called as they were called then
 * @param day a day as people read it
 */
export const historyWords = (
  oldestFirst: readonly DeliveryChange[],
  day: (time: string) => string,
): ReadonlyMap<number, readonly ChangeWords[]> => {
  const words = new Map<number, readonly ChangeWords[]>();
  let labels: Labels = new Map();
  for (const entry of oldestFirst) {
    const next = labelsAfter(labels, entry);
    words.set(entry.revision, entryWords(entry, next, day));
    labels = next;
  }
  return words;
};
