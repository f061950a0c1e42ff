import type { Checkpoint, CheckpointStatus, DeliveryBlock, ReplaceDeliveryRequest } from '@doorstep/sdk';

/** Most steps that a delivery block may hold. */
export const maxSteps = 40;

/** How many days ahead a due date is offered. */
export const offeredDays = 14;

const editedFields = ['label', 'neededFromClient', 'dueAt'] as const;

/** What of a step is edited before it is saved; its status and place are saved at once. */
export type EditedStepField = (typeof editedFields)[number];

/** A part of a delivery block, as the history of the service names it. */
export type EditPath = 'estimatedCompletionAt' | 'previewUrlOverride' | `checkpoints.${string}.${EditedStepField}`;

/** One part that was edited. `null`: nothing is there. */
export interface Edit {
  /** What was there when the edit began. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What was edited and is not saved. */
export interface Draft {
  readonly edits: Readonly<Record<string, Edit>>;
  /** The edited steps as they were last: one of them may be removed meanwhile. */
  readonly steps: Readonly<Record<string, Checkpoint>>;
  /** Steps that somebody else removed, and that come back with what was edited. */
  readonly restored: readonly string[];
}

export const emptyDraft: Draft = { edits: {}, steps: {}, restored: [] };

export const isEmpty = ({ edits }: Draft): boolean => Object.keys(edits).length === 0;

/** A change of a delivery block, as somebody meant it: it can be made again on what somebody else left. */
export type Operation =
  /** `at`: when, as it is shown until the service has answered. */
  | { readonly type: 'setStatus'; readonly stepId: string; readonly status: CheckpointStatus; readonly at: string }
  /** `after`: the step that is before it from now on; `null`: none. */
  | { readonly type: 'move'; readonly stepId: string; readonly after: string | null }
  | { readonly type: 'add'; readonly step: Checkpoint }
  | { readonly type: 'remove'; readonly stepId: string }
  | { readonly type: 'showPreview'; readonly showPreviewUrl: boolean }
  | { readonly type: 'edit'; readonly draft: Draft; readonly reason: string; readonly reasonVisible: boolean };

export const stepPath = (stepId: string, field: EditedStepField): EditPath => `checkpoints.${stepId}.${field}`;

/** Ids of steps hold no dots. */
const placeOf = (path: string): { readonly stepId: string; readonly field: EditedStepField } | undefined => {
  const [, stepId, name] = path.split('.');
  const field = editedFields.find((known) => known === name);
  return stepId === undefined || field === undefined ? undefined : { stepId, field };
};

/** What is there; `undefined` when the step is gone. */
const valueAt = (block: DeliveryBlock, path: string): string | null | undefined => {
  if (path === 'estimatedCompletionAt') return block.estimatedCompletionAt;
  if (path === 'previewUrlOverride') return block.previewUrlOverride ?? null;
  const place = placeOf(path);
  const step = block.checkpoints.find(({ id }) => id === place?.stepId);
  return step === undefined || place === undefined ? undefined : (step[place.field] ?? null);
};

/** The draft with one more edit; one that leads back to what is there is none. */
export const edited = (draft: Draft, block: DeliveryBlock, path: EditPath, value: string): Draft => {
  const current = valueAt(block, path);
  if (current === undefined) return draft;
  const isLabel = path.endsWith('.label');
  const to = value === '' && !isLabel ? null : value;
  const { [path]: before, ...others } = draft.edits;
  if (to === current) return { ...draft, edits: others };
  const step = block.checkpoints.find(({ id }) => id === placeOf(path)?.stepId);
  return {
    ...draft,
    edits: { ...others, [path]: { from: before === undefined ? current : before.from, to } },
    steps: step === undefined ? draft.steps : { ...draft.steps, [step.id]: step },
  };
};

const withField = (step: Checkpoint, field: EditedStepField, value: string | null): Checkpoint => {
  if (field === 'label') return { ...step, label: value ?? '' };
  const { [field]: _, ...rest } = step;
  return value === null ? rest : { ...rest, [field]: value };
};

/** The block as it is once the draft is saved. */
export const withDraft = (block: DeliveryBlock, { edits, steps, restored }: Draft): DeliveryBlock => {
  const { previewUrlOverride, ...rest } = block;
  const back = restored.flatMap((id) => (block.checkpoints.some((step) => step.id === id) ? [] : (steps[id] ?? [])));
  const override =
    edits['previewUrlOverride']?.to ?? (edits['previewUrlOverride'] === undefined ? previewUrlOverride : undefined);
  return {
    ...rest,
    ...(override !== undefined && { previewUrlOverride: override }),
    estimatedCompletionAt: edits['estimatedCompletionAt']?.to ?? block.estimatedCompletionAt,
    checkpoints: [...block.checkpoints, ...back]
      .sort((one, other) => one.order - other.order)
      .map((step) =>
        editedFields.reduce((changed, field) => {
          const edit = edits[stepPath(step.id, field)];
          return edit === undefined ? changed : withField(changed, field, edit.to);
        }, step),
      ),
  };
};

/** A part that two people changed; of a step that somebody else removed, the step. */
export interface Conflict {
  readonly path: string;
  readonly from: string | null;
  readonly mine: string | null;
  /** `undefined`: the step was removed. */
  readonly theirs: string | null | undefined;
}

/** Where the draft and what was saved meanwhile do not agree. */
export const conflictsOf = ({ edits, steps, restored }: Draft, block: DeliveryBlock): readonly Conflict[] => {
  const conflicts = new Map<string, Conflict>();
  for (const [path, { from, to }] of Object.entries(edits)) {
    const theirs = valueAt(block, path);
    const stepId = placeOf(path)?.stepId ?? '';
    if (theirs === undefined) {
      const label = steps[stepId]?.label ?? null;
      const mine = edits[stepPath(stepId, 'label')]?.to ?? label;
      if (!restored.includes(stepId)) conflicts.set(stepId, { path: `checkpoints.${stepId}`, from: label, mine, theirs });
    } else if (theirs !== from && theirs !== to) {
      conflicts.set(path, { path, from, mine: to, theirs });
    }
  }
  return [...conflicts.values()];
};

/** The draft without its conflicts: of each, mine is kept or theirs taken. */
export const merged = (draft: Draft, block: DeliveryBlock, mine: ReadonlySet<string>): Draft => {
  const conflicts = conflictsOf(draft, block);
  const given = conflicts.filter(({ path }) => !mine.has(path)).map(({ path }) => path);
  const isGiven = (path: string): boolean => given.some((one) => path === one || path.startsWith(`${one}.`));
  const kept = Object.entries(draft.edits).filter(([path]) => !isGiven(path));
  const gone = conflicts.filter(({ path, theirs }) => theirs === undefined && mine.has(path));
  return {
    edits: Object.fromEntries(kept.map(([path, { from, to }]) => [path, { from: valueAt(block, path) ?? from, to }])),
    steps: draft.steps,
    restored: [...draft.restored, ...gone.map(({ path }) => path.split('.')[1] ?? '')],
  };
};

/** The draft with its steps as they are saved now; of those that are gone, as they were last. */
export const renewed = (draft: Draft, { checkpoints }: DeliveryBlock): Draft => {
  const stepIds = new Set(Object.keys(draft.edits).map((path) => placeOf(path)?.stepId));
  const known = [...Object.values(draft.steps), ...checkpoints].filter(({ id }) => stepIds.has(id));
  return { ...draft, steps: Object.fromEntries(known.map((step) => [step.id, step])) };
};

/**
 * What of a draft is still to be saved once a part of it was: what was edited while that was on its way.
 * @param sent - the draft as it was saved
 * @param block - the block since
 */
export const unsaved = (draft: Draft, sent: Draft, block: DeliveryBlock): Draft => {
  // What was sent and is edited no more was typed back to what was there before.
  const back = Object.entries(sent.edits).map(([path, { from, to }]) => [path, { from: to, to: from }] as const);
  const edits = Object.entries({ ...Object.fromEntries(back), ...draft.edits }).flatMap(([path, edit]) => {
    const was = sent.edits[path];
    if (was === undefined) return [[path, edit] as const];
    const from = valueAt(block, path);
    return edit === was || from === undefined || from === edit.to ? [] : [[path, { from, to: edit.to }] as const];
  });
  const restored = draft.restored.filter((id) => !sent.restored.includes(id));
  return renewed({ ...draft, edits: Object.fromEntries(edits), restored }, block);
};

/** The draft without what was edited of a step. */
export const withoutStep = (draft: Draft, stepId: string): Draft => ({
  ...draft,
  edits: Object.fromEntries(Object.entries(draft.edits).filter(([path]) => !path.startsWith(`checkpoints.${stepId}.`))),
});

/** In the sequence given: 10, 20, 30 … */
const numbered = (steps: readonly Checkpoint[]): Checkpoint[] =>
  steps.map((step, index) => ({ ...step, order: 10 * (index + 1) }));

/** The step in its place after another one; when one of the two is gone, all stay where they are. */
const movedAfter = (steps: readonly Checkpoint[], stepId: string, after: string | null): Checkpoint[] => {
  const step = steps.find(({ id }) => id === stepId);
  const others = steps.filter(({ id }) => id !== stepId);
  const place = after === null ? 0 : others.findIndex(({ id }) => id === after) + 1;
  if (step === undefined || (after !== null && place === 0)) return [...steps];
  return numbered([...others.slice(0, place), step, ...others.slice(place)]);
};

const withStatus = (step: Checkpoint, status: CheckpointStatus, at: string): Checkpoint => {
  if (step.status === status) return step;
  const { completedAt: _, neededFromClient, ...rest } = step;
  // As the service does: a done step says when, and needs nothing from the client.
  if (status === 'done') return { ...rest, status, completedAt: at };
  return { ...rest, status, ...(neededFromClient !== undefined && { neededFromClient }) };
};

/** The block after a change. To make a change twice is to make it once. */
export const after = (block: DeliveryBlock, operation: Operation): DeliveryBlock => {
  const { checkpoints } = block;
  switch (operation.type) {
    case 'setStatus': {
      const { stepId, status, at } = operation;
      return { ...block, checkpoints: checkpoints.map((step) => (step.id === stepId ? withStatus(step, status, at) : step)) };
    }
    case 'move':
      return { ...block, checkpoints: movedAfter(checkpoints, operation.stepId, operation.after) };
    case 'add': {
      const { step } = operation;
      if (checkpoints.some(({ id }) => id === step.id)) return block;
      return { ...block, checkpoints: [...checkpoints, { ...step, order: (checkpoints.at(-1)?.order ?? 0) + 10 }] };
    }
    case 'remove':
      return { ...block, checkpoints: checkpoints.filter(({ id }) => id !== operation.stepId) };
    case 'showPreview':
      return { ...block, showPreviewUrl: operation.showPreviewUrl };
    case 'edit':
      return withDraft(block, operation.draft);
    default:
      return operation satisfies never;
  }
};

/** What is sent to leave the block like this. */
export const requestFor = (block: DeliveryBlock): ReplaceDeliveryRequest => ({
  estimatedCompletionAt: block.estimatedCompletionAt,
  showPreviewUrl: block.showPreviewUrl,
  previewUrlOverride: block.previewUrlOverride ?? '',
  checkpoints: block.checkpoints,
});

/** An id for a new step: from its name, as no other step has it. */
export const newStepId = (label: string, steps: readonly Checkpoint[]): string => {
  const plain = label
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const name = plain.slice(0, 40) || 'step';
  const taken = new Set(steps.map(({ id }) => id));
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? name : `${name}-${String(count)}`;
    if (!taken.has(id)) return id;
  }
};
