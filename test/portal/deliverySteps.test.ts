import { describe, expect, test } from '@jest/globals';
import type { DeliveryBlock, DeliveryChange } from '@doorstep/sdk';
import { historyWords } from '../../portal/src/features/delivery/changeWords.js';
import {
  after,
  conflictsOf,
  edited,
  emptyDraft,
  merged,
  newStepId,
  renewed,
  requestFor,
  stepPath,
  unsaved,
  withDraft,
  withoutStep,
  type EditPath,
} from '../../portal/src/features/delivery/steps.js';

const step = (id: string, order: number, more: object = {}) => ({
  id,
  label: id.toUpperCase(),
  order,
  status: 'pending' as const,
  ...more,
});

const block: DeliveryBlock = {
  websiteId: 'w1',
  estimatedCompletionAt: '2026-12-15T12:00:00.000Z',
  showPreviewUrl: false,
  checkpoints: [step('a', 10), step('b', 35), step('c', 40, { neededFromClient: 'photos' })],
  revision: 3,
  updatedAt: '2026-11-01T12:00:00.000Z',
};

const ids = ({ checkpoints }: DeliveryBlock) => checkpoints.map(({ id }) => id);

const edits = (pairs: readonly (readonly [EditPath, string])[]) =>
  pairs.reduce((draft, [path, value]) => edited(draft, block, path, value), emptyDraft);

describe('a change of the steps', () => {
  test('numbers all of them 10, 20, 30 after a move', () => {
    const moved = after(block, { type: 'move', stepId: 'c', after: null });
    expect(moved.checkpoints.map(({ id, order }) => [id, order])).toEqual([
      ['c', 10],
      ['a', 20],
      ['b', 30],
    ]);
  });

  test.each([
    ['of a step that is gone', 'z', 'a'],
    ['behind a step that is gone', 'a', 'z'],
  ])('leaves all where they are: a move %s', (_name, stepId, behind) => {
    expect(after(block, { type: 'move', stepId, after: behind })).toEqual(block);
  });

  test('comes to the same when it is made twice', () => {
    const operations = [
      { type: 'move', stepId: 'a', after: 'c' },
      { type: 'add', step: step('d', 0) },
      { type: 'remove', stepId: 'b' },
      { type: 'setStatus', stepId: 'c', status: 'done', at: '2026-11-02T12:00:00.000Z' },
    ] as const;
    for (const operation of operations) {
      const once = after(block, operation);
      expect(once).not.toEqual(block);
      expect(after(once, operation)).toEqual(once);
    }
  });

  test('says when a step was done and takes away what it needed, and the time when it is not done any more', () => {
    const at = '2026-11-02T12:00:00.000Z';
    const done = after(block, { type: 'setStatus', stepId: 'c', status: 'done', at });
    expect(done.checkpoints[2]).toEqual({ id: 'c', label: 'C', order: 40, status: 'done', completedAt: at });
    const again = after(done, { type: 'setStatus', stepId: 'c', status: 'in_progress', at });
    expect(again.checkpoints[2]).toEqual({ id: 'c', label: 'C', order: 40, status: 'in_progress' });
  });
});

describe('a draft', () => {
  test('is laid over what there is', () => {
    const draft = edits([
      ['estimatedCompletionAt', '2026-12-22T12:00:00.000Z'],
      ['previewUrlOverride', 'https://example.com/'],
      [stepPath('c', 'neededFromClient'), ''],
      [stepPath('a', 'dueAt'), '2026-12-01T12:00:00.000Z'],
    ]);
    const shown = withDraft(block, draft);
    expect(shown).toMatchObject({
      estimatedCompletionAt: '2026-12-22T12:00:00.000Z',
      previewUrlOverride: 'https://example.com/',
    });
    expect(shown.checkpoints[0]?.dueAt).toBe('2026-12-01T12:00:00.000Z');
    expect(shown.checkpoints[2]).not.toHaveProperty('neededFromClient');
  });

  test('is empty again when an edit leads back', () => {
    const draft = edits([
      [stepPath('a', 'label'), 'Begin'],
      [stepPath('a', 'label'), 'A'],
    ]);
    expect(draft.edits).toEqual({});
  });

  test('unsets the address of the preview', () => {
    const other = { ...block, previewUrlOverride: 'https://example.com/' };
    const draft = edited(emptyDraft, other, 'previewUrlOverride', '');
    expect(requestFor(withDraft(other, draft)).previewUrlOverride).toBe('');
  });
});

describe('once a draft is saved', () => {
  const sent = edits([
    [stepPath('a', 'label'), 'Begin'],
    [stepPath('b', 'label'), 'Middle'],
  ]);
  const there = withDraft(block, sent);

  test('nothing of it is left', () => {
    expect(unsaved(sent, sent, there).edits).toEqual({});
  });

  test('what was typed meanwhile is, from what is saved now', () => {
    const more = edited(
      edited(sent, block, stepPath('a', 'label'), 'Begin here'),
      block,
      'previewUrlOverride',
      'https://a.example/',
    );
    const rest = unsaved(more, sent, there);
    expect(rest.edits).toEqual({
      [stepPath('a', 'label')]: { from: 'Begin', to: 'Begin here' },
      previewUrlOverride: { from: null, to: 'https://a.example/' },
    });
    expect(conflictsOf(rest, there)).toEqual([]);
  });

  test('what was typed back meanwhile is', () => {
    const rest = unsaved(edited(sent, block, stepPath('a', 'label'), 'A'), sent, there);
    expect(rest.edits).toEqual({ [stepPath('a', 'label')]: { from: 'Begin', to: 'A' } });
  });

  test('what was edited of a step that is gone is not', () => {
    const more = edited(sent, block, stepPath('a', 'label'), 'Begin here');
    expect(unsaved(more, sent, after(there, { type: 'remove', stepId: 'a' })).edits).toEqual({});
    expect(Object.keys(withoutStep(more, 'a').edits)).toEqual([stepPath('b', 'label')]);
  });

  test.each([
    ['typed after it', (saved: DeliveryBlock) => edited(unsaved(sent, sent, there), saved, stepPath('a', 'label'), 'Start')],
    [
      'typed while it was saved',
      (saved: DeliveryBlock) => unsaved(edited(sent, block, stepPath('a', 'label'), 'Start'), sent, saved),
    ],
    [
      'typed before its status was set',
      (saved: DeliveryBlock) => renewed(edited(emptyDraft, there, stepPath('a', 'label'), 'Start'), saved),
    ],
  ])('a step that somebody removes comes back as it was last: %s', (_name, draftFrom) => {
    const at = '2026-11-02T12:00:00.000Z';
    const draft = draftFrom(after(there, { type: 'setStatus', stepId: 'a', status: 'in_progress', at }));
    const gone = after(there, { type: 'remove', stepId: 'a' });
    expect(conflictsOf(draft, gone)).toMatchObject([{ path: 'checkpoints.a', from: 'Begin', mine: 'Start' }]);
    const saved = withDraft(gone, merged(draft, gone, new Set(['checkpoints.a'])));
    expect(saved.checkpoints[0]).toMatchObject({ id: 'a', label: 'Start', status: 'in_progress' });
  });
});

describe('two who change the same', () => {
  const draft = edits([
    ['estimatedCompletionAt', '2026-12-22T12:00:00.000Z'],
    [stepPath('a', 'label'), 'Begin'],
    [stepPath('b', 'label'), 'Middle'],
  ]);
  const theirs: DeliveryBlock = {
    ...block,
    estimatedCompletionAt: '2026-12-31T12:00:00.000Z',
    checkpoints: [step('a', 10), step('c', 40, { label: 'End' })],
  };

  test('do not agree where both changed something, and where one removed it', () => {
    expect(conflictsOf(draft, theirs)).toEqual([
      {
        path: 'estimatedCompletionAt',
        from: '2026-12-15T12:00:00.000Z',
        mine: '2026-12-22T12:00:00.000Z',
        theirs: '2026-12-31T12:00:00.000Z',
      },
      { path: 'checkpoints.b', from: 'B', mine: 'Middle', theirs: undefined },
    ]);
  });

  test('agree when they changed it alike', () => {
    expect(conflictsOf(draft, withDraft(block, draft))).toEqual([]);
  });

  test('get of each part what was chosen, and all that only one of them changed', () => {
    const mine = merged(draft, theirs, new Set(['checkpoints.b']));
    expect(conflictsOf(mine, theirs)).toEqual([]);
    const saved = withDraft(theirs, mine);
    expect(saved.estimatedCompletionAt).toBe('2026-12-31T12:00:00.000Z');
    expect(saved.checkpoints.map(({ label }) => label)).toEqual(['Begin', 'Middle', 'End']);

    const given = withDraft(theirs, merged(draft, theirs, new Set(['estimatedCompletionAt'])));
    expect(given.estimatedCompletionAt).toBe('2026-12-22T12:00:00.000Z');
    expect(ids(given)).toEqual(['a', 'c']);
  });
});

test.each([
  ['Prüfung & Abnahme', 'prufung-abnahme'],
  ['  Launch!  ', 'launch'],
  ['a', 'a-2'],
  ['発売', 'step'],
])('%j becomes the id %s', (label, id) => {
  expect(newStepId(label, block.checkpoints)).toBe(id);
});

test('the history calls steps as they were called then', () => {
  const entry = (revision: number, changes: DeliveryChange['changes'], more: Partial<DeliveryChange> = {}): DeliveryChange => ({
    revision,
    at: '2026-11-01T12:00:00.000Z',
    actor: { subject: 's', role: 'admin', via: 'portal' },
    type: 'DeliveryReplaced',
    changes,
    ...more,
  });
  const words = historyWords(
    [
      entry(
        0,
        [
          { path: 'estimatedCompletionAt', from: null, to: '2026-12-15' },
          { path: 'checkpoints.a', from: null, to: step('a', 10) },
        ],
        { type: 'DeliverySetUp' },
      ),
      entry(1, [{ path: 'checkpoints.a.status', from: 'pending', to: 'done' }], { type: 'DeliveryCheckpointStatusSet' }),
      entry(2, [{ path: 'checkpoints.a.label', from: 'A', to: 'Begin' }]),
      entry(3, [{ path: 'checkpoints.a.dueAt', from: null, to: '2026-12-01' }]),
      entry(4, [{ path: 'checkpoints.a.order', from: 10, to: 20 }]),
      entry(5, [{ path: 'checkpoints.a', from: step('a', 20, { label: 'Begin' }), to: null }]),
      entry(6, [{ path: 'showPreviewUrl', from: false, to: true }], { type: 'DeliveryUndone', undid: 2 }),
      entry(7, [], { reason: 'The photos come a week later.' }),
    ],
    (time) => `<${time}>`,
  );
  expect([...words.values()]).toEqual([
    [{ key: 'setUp', values: { day: '<2026-12-15>', count: 1 } }],
    [{ key: 'done', values: { label: 'A' } }],
    [{ key: 'renamed', values: { from: 'A', to: 'Begin' } }],
    [{ key: 'dueSet', values: { label: 'Begin', to: '<2026-12-01>' } }],
    [{ key: 'renumbered', values: {} }],
    [{ key: 'removed', values: { label: 'Begin' } }],
    [
      { key: 'undone', values: { revision: 2 } },
      { key: 'previewShown', values: {} },
    ],
    [{ key: 'explained', values: {} }],
  ]);
});
