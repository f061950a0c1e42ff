import { describe, expect, test } from '@jest/globals';
import type { DeliveryCommand } from '../../src/commands/delivery/delivery.commands.js';
import { deliveryDecider } from '../../src/commands/delivery/delivery.decider.js';
import { isRefusal } from '../../src/commands/decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { DeliveryCheckpoint, DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import { checkpoint, content, eta, replaced, setUp, unchanged, websiteId } from '../support/delivery.js';
import { earlier, expectRepeatable, given, now, recorded, stateAfter, type Timeless } from '../support/given.js';

const previewUrlOverride = 'https://preview.example.com';
const longAgo = '2025-06-01T00:00:00.000Z';

const seeded: DeliveryCheckpoint[] = [
  { id: 'kickoff', label: 'Kickoff', order: 10, status: 'pending' },
  { id: 'design-approved', label: 'Design approved', order: 20, status: 'pending' },
  { id: 'initial-deploy', label: 'Initial deploy', order: 30, status: 'pending' },
  { id: 'content-loaded', label: 'Content loaded', order: 40, status: 'pending' },
  { id: 'qa', label: 'QA', order: 50, status: 'pending' },
  { id: 'launch', label: 'Launch', order: 60, status: 'pending' },
];

const many = (count: number): DeliveryCheckpoint[] => Array.from({ length: count }, (_, index) => checkpoint(`c${index}`));

describe('setting up', () => {
  test('with nothing said seeds six pending checkpoints and an ETA 30 days ahead', () => {
    given(deliveryDecider)
      .when({ type: 'ReplaceDelivery', websiteId })
      .then([
        {
          type: 'DeliverySetUp',
          data: { websiteId, estimatedCompletionAt: '2026-02-01T00:00:00.000Z', showPreviewUrl: false, checkpoints: seeded },
        },
      ]);
  });

  test('takes what is said, in order, and completes what is done already', () => {
    given(deliveryDecider)
      .when({
        ...unchanged,
        showPreviewUrl: true,
        previewUrlOverride,
        checkpoints: [checkpoint('b', { order: 20 }), checkpoint('a', { order: -5, status: 'done', dueAt: eta })],
        reason: 'Signed today',
      })
      .then([
        {
          type: 'DeliverySetUp',
          data: {
            ...content([
              checkpoint('a', { order: -5, status: 'done', dueAt: eta, completedAt: now }),
              checkpoint('b', { order: 20 }),
            ]),
            showPreviewUrl: true,
            previewUrlOverride,
            reason: 'Signed today',
            reasonVisible: false,
          },
        },
      ]);
  });

  test('stores no -0, which JSON does not have', () => {
    given(deliveryDecider)
      .when({ ...unchanged, checkpoints: [checkpoint('a', { order: -0 })] })
      .then([setUp([checkpoint('a', { order: 0 })])]);
  });

  test('with an empty list has no checkpoints', () => {
    given(deliveryDecider)
      .when({ ...unchanged, checkpoints: [] })
      .then([setUp()]);
  });
});

describe('replacing', () => {
  test('names every field that a later replacement must carry', () => {
    given(deliveryDecider, [setUp()])
      .when({ type: 'ReplaceDelivery', websiteId })
      .thenRefused({
        kind: 'invalid',
        code: 'invalid_body',
        message: 'Invalid request body — estimatedCompletionAt: is required',
        details: [
          { field: 'estimatedCompletionAt', issue: 'is required' },
          { field: 'showPreviewUrl', issue: 'is required' },
        ],
      });
  });

  test('keeps the checkpoints and the override when they are left out', () => {
    const kept = [checkpoint('a', { status: 'done', completedAt: longAgo })];
    given(deliveryDecider, [setUp(kept, { previewUrlOverride })])
      .when({ ...unchanged, showPreviewUrl: true })
      .then([replaced(kept, { previewUrlOverride, showPreviewUrl: true })]);
  });

  test('replaces the whole list when there is one', () => {
    given(deliveryDecider, [setUp([checkpoint('a'), checkpoint('b')])])
      .when({ ...unchanged, checkpoints: [checkpoint('c'), checkpoint('b', { label: 'Bee' })] })
      .then([replaced([checkpoint('c'), checkpoint('b', { label: 'Bee' })])]);
  });

  test('lists by order, and in the sequence sent where the order is the same', () => {
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, checkpoints: ['z', 'y', 'x', 'w'].map((id) => checkpoint(id, { order: id === 'w' ? 5 : 10 })) })
      .then([replaced([checkpoint('w', { order: 5 }), checkpoint('z'), checkpoint('y'), checkpoint('x')])]);
  });

  test('an empty override unsets it', () => {
    given(deliveryDecider, [setUp([], { previewUrlOverride })])
      .when({ ...unchanged, previewUrlOverride: '' })
      .then([replaced()]);
  });

  test.each([
    ['done before and after keeps its time', 'done', 'done', longAgo],
    ['becoming done takes the time of the decision', 'in_progress', 'done', now],
    ['leaving done loses its time', 'done', 'pending', undefined],
  ] as const)('a checkpoint %s', (_, from, to, completedAt) => {
    const was = checkpoint('a', { status: from, ...(from === 'done' && { completedAt: longAgo }) });
    const is = { ...checkpoint('a', { status: to, label: 'Renamed' }), ...(completedAt !== undefined && { completedAt }) };
    given(deliveryDecider, [setUp([was])])
      .when({
        ...unchanged,
        checkpoints: [checkpoint('a', { status: to, label: 'Renamed', completedAt: '1999-01-01T00:00:00.000Z' })],
      })
      .then([replaced([is])]);
  });

  test('a checkpoint that was removed and added again as done gets a new completion time', () => {
    given(deliveryDecider, [setUp([checkpoint('a', { status: 'done', completedAt: longAgo })]), replaced()])
      .when({ ...unchanged, checkpoints: [checkpoint('a', { status: 'done' })] })
      .then([replaced([checkpoint('a', { status: 'done', completedAt: now })])]);
  });

  test('what is needed from the client is kept as sent, unset by nothing or blank text, and gone when done', () => {
    const was = [checkpoint('a', { neededFromClient: 'Texts' }), checkpoint('b', { neededFromClient: 'Logo' })];
    given(deliveryDecider, [setUp(was)])
      .when({
        ...unchanged,
        checkpoints: [
          checkpoint('a', { neededFromClient: ' \n\0' }),
          checkpoint('b'),
          checkpoint('c', { status: 'done', neededFromClient: 'Photos' }),
          checkpoint('d', { neededFromClient: 'Prices' }),
        ],
      })
      .then([
        replaced([
          checkpoint('a'),
          checkpoint('b'),
          checkpoint('c', { status: 'done', completedAt: now }),
          checkpoint('d', { neededFromClient: 'Prices' }),
        ]),
      ]);
  });

  test('with nothing new, and no reason, changes nothing', () => {
    given(deliveryDecider, [setUp([checkpoint('a', { order: 0 }), checkpoint('b', { status: 'done', completedAt: longAgo })])])
      .when({ ...unchanged, checkpoints: [checkpoint('a', { order: -0 }), checkpoint('b', { status: 'done' })] })
      .then([]);
  });

  const late = { reason: 'The photos come a week later', reasonVisible: true };

  test.each<[string, DeliveryEvent[], object]>([
    ['where none was given', [setUp()], late],
    ['that is another one', [setUp([], { reason: 'Signed', reasonVisible: true })], late],
    ['that clients may now read', [setUp([], { ...late, reasonVisible: false })], late],
    ['that clients may read no more', [setUp([], late)], { reason: late.reason }],
    ['that was that of a change before the last', [setUp([], late), replaced([], { showPreviewUrl: true }), replaced()], late],
  ])('with nothing but a reason %s records the reason', (_, events, why) => {
    given(deliveryDecider, events)
      .when({ ...unchanged, ...why })
      .then([replaced([], { reasonVisible: false, ...why })]);
  });

  test('with nothing but a reason after a status was set records the reason', () => {
    const statusSet: DeliveryEvent = {
      type: 'DeliveryCheckpointStatusSet',
      data: { websiteId, checkpointId: 'a', status: 'in_progress', previousStatus: 'pending' },
    };
    given(deliveryDecider, [setUp([checkpoint('a')], late), statusSet])
      .when({ ...unchanged, ...late })
      .then([replaced([checkpoint('a', { status: 'in_progress' })], late)]);
  });

  test('with nothing but the reason of the last change changes nothing', () => {
    given(deliveryDecider, [setUp([], late)])
      .when({ ...unchanged, ...late })
      .then([]);
    given(deliveryDecider, [setUp([], { reason: 'Signed' })])
      .when({ ...unchanged, reason: 'Signed' })
      .then([]);
  });

  test('records the reason and whether clients may read it', () => {
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, showPreviewUrl: true, reason: 'Texts came late', reasonVisible: true })
      .then([replaced([], { showPreviewUrl: true, reason: 'Texts came late', reasonVisible: true })]);
  });

  test('refuses every id that is there already', () => {
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, checkpoints: ['a', 'b', 'a', 'b', 'a'].map((id) => checkpoint(id)) })
      .thenRefused({
        kind: 'invalid',
        code: 'invalid_body',
        message: 'Invalid request body — checkpoints.2.id: must be unique within the delivery block',
        details: [2, 3, 4].map((index) => ({
          field: `checkpoints.${index}.id`,
          issue: 'must be unique within the delivery block',
        })),
      });
  });

  test('refuses a blank label, unless it is there already', () => {
    const blank = checkpoint('a', { label: ' ' });
    given(deliveryDecider, [setUp([checkpoint('b')])])
      .when({ ...unchanged, checkpoints: [blank, checkpoint('b', { label: '\t' })] })
      .thenRefused(
        refusals.invalidBody('checkpoints.0.label', 'must not be blank', [
          { field: 'checkpoints.1.label', issue: 'must not be blank' },
        ]),
      );
    given(deliveryDecider, [setUp([blank])])
      .when({ ...unchanged, checkpoints: [blank, checkpoint('b')] })
      .then([replaced([blank, checkpoint('b')])]);
  });

  test('takes 40 checkpoints and refuses 41', () => {
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, checkpoints: many(40) })
      .then([replaced(many(40))]);
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, checkpoints: many(41) })
      .thenRefused(refusals.invalidBody('checkpoints', 'must have at most 40 entries'));
  });

  test.each([
    'javascript:alert(1)',
    'ftp://example.com',
    'example.com',
    '//example.com',
    'https://',
    'https:/example.com',
    ' https://example.com',
    'https://exam ple.com',
    'https://example.com/\n',
    'https://user@example.com',
    'https://user:secret@example.com',
    'https://:secret@example.com',
  ])('refuses %j as the override', (text) => {
    given(deliveryDecider, [setUp()])
      .when({ ...unchanged, previewUrlOverride: text })
      .thenRefused(refusals.invalidBody('previewUrlOverride', 'must be an http or https URL without credentials'));
  });

  test.each(['http://localhost:4000/', 'HTTPS://Example.com/a?b=c#d', 'https://bücher.example/käse', 'https://[::1]:8443/x'])(
    'takes %j as the override, as it is',
    (text) => {
      const { outcome } = given(deliveryDecider, [setUp()]).when({ ...unchanged, previewUrlOverride: text });
      expect(outcome).toMatchObject([{ data: { previewUrlOverride: text } }]);
    },
  );
});

describe('setting a checkpoint’s status', () => {
  const statuses = ['pending', 'in_progress', 'done'] as const;
  const transitions = statuses.flatMap((from) => statuses.filter((to) => to !== from).map((to) => [from, to] as const));

  test.each(transitions)('from %s to %s', (from, to) => {
    given(deliveryDecider, [
      setUp([checkpoint('a', { status: from, ...(from === 'done' && { completedAt: longAgo }) }), checkpoint('b')]),
    ])
      .when({ type: 'SetCheckpointStatus', websiteId, checkpointId: 'a', status: to })
      .then([
        {
          type: 'DeliveryCheckpointStatusSet',
          data: { websiteId, checkpointId: 'a', status: to, previousStatus: from, ...(to === 'done' && { completedAt: now }) },
        },
      ]);
  });

  test.each(statuses)('to what it is already (%s) changes nothing', (status) => {
    given(deliveryDecider, [setUp([checkpoint('a', { status, ...(status === 'done' && { completedAt: longAgo }) })])])
      .when({ type: 'SetCheckpointStatus', websiteId, checkpointId: 'a', status })
      .then([]);
  });

  test.each(['b', '__proto__', 'constructor'])('of an unknown checkpoint (%s) is refused', (checkpointId) => {
    given(deliveryDecider, [setUp([checkpoint('a')])])
      .when({ type: 'SetCheckpointStatus', websiteId, checkpointId, status: 'done' })
      .thenRefused(refusals.deliveryCheckpointNotFound(checkpointId));
  });

  test.each([
    ['in_progress', { neededFromClient: 'Texts' }],
    ['done', { completedAt: now }],
  ] as const)('to %s: what is needed from the client stays until it is done', (status, then) => {
    const events = [setUp([checkpoint('a', { neededFromClient: 'Texts' })])];
    const { outcome } = given(deliveryDecider, events).when({
      type: 'SetCheckpointStatus',
      websiteId,
      checkpointId: 'a',
      status,
    });
    if (isRefusal(outcome)) throw new Error('it was refused');
    const state = stateAfter(deliveryDecider, [...events, ...outcome]);
    expect(state).toMatchObject({ stage: 'setUp', block: { checkpoints: [checkpoint('a', { status, ...then })] } });
    if (state.stage === 'setUp') expect(state.block.checkpoints[0]).toStrictEqual(checkpoint('a', { status, ...then }));
  });

  test('before the set-up is refused', () => {
    given(deliveryDecider)
      .when({ type: 'SetCheckpointStatus', websiteId, checkpointId: 'a', status: 'done' })
      .thenRefused(refusals.deliveryNotSetUp(websiteId));
  });
});

describe('undoing', () => {
  const events = [
    recorded(setUp([checkpoint('a', { status: 'done', completedAt: longAgo })]), { revision: 0, at: longAgo }),
    recorded<DeliveryEvent>(replaced([checkpoint('b')]), { revision: 1 }),
  ];
  const before = { ...content([checkpoint('a', { status: 'done', completedAt: longAgo })]), updatedAt: longAgo };

  test('restores the block as it was, with the times of completion', () => {
    given(deliveryDecider, events)
      .when({ type: 'UndoDeliveryChange', websiteId, revision: 1, before })
      .then([
        {
          type: 'DeliveryUndone',
          data: { ...content([checkpoint('a', { status: 'done', completedAt: longAgo })]), revision: 1 },
        },
      ]);
  });

  test('what is undone already changes nothing', () => {
    given(deliveryDecider, events.slice(0, 1)).when({ type: 'UndoDeliveryChange', websiteId, revision: 1, before }).then([]);
  });

  test('the set-up is refused', () => {
    given(deliveryDecider, events)
      .when({ type: 'UndoDeliveryChange', websiteId, revision: 0, before: null })
      .thenRefused(refusals.invalidBody('revision', 'is the set-up, which cannot be undone'));
  });

  test('a change that never was is refused', () => {
    given(deliveryDecider, events)
      .when({ type: 'UndoDeliveryChange', websiteId, revision: 2, before: null })
      .thenRefused(refusals.invalidBody('revision', 'is not a change of this delivery block'));
  });

  test('before the set-up is refused', () => {
    given(deliveryDecider)
      .when({ type: 'UndoDeliveryChange', websiteId, revision: 1, before: null })
      .thenRefused(refusals.deliveryNotSetUp(websiteId));
  });
});

describe('repeating changes nothing', () => {
  const kept = [checkpoint('a'), checkpoint('b', { status: 'done', completedAt: earlier })];
  const start = [setUp(kept)];
  const cases: [string, DeliveryEvent[], Timeless<DeliveryCommand>][] = [
    ['a set-up', [], { ...unchanged, checkpoints: [checkpoint('a', { status: 'done' })] }],
    [
      'a replacement',
      start,
      { ...unchanged, checkpoints: [checkpoint('a', { status: 'done' }), checkpoint('b', { status: 'done' })] },
    ],
    ['a reason', start, { ...unchanged, reason: 'The photos come a week later' }],
    ['a status', start, { type: 'SetCheckpointStatus', websiteId, checkpointId: 'a', status: 'done' }],
    [
      'an undo',
      [...start, replaced()],
      { type: 'UndoDeliveryChange', websiteId, revision: 1, before: { ...content(kept), updatedAt: earlier } },
    ],
  ];

  test.each(cases)('%s', (_, events, command) => {
    expectRepeatable(deliveryDecider, events, command);
  });
});

test('no decision changes the state that it is given', () => {
  const events = [setUp([checkpoint('b', { order: 20 }), checkpoint('a')])];
  const state = stateAfter(deliveryDecider, events);
  const copy = structuredClone(state);
  const outcome = deliveryDecider.decide({ ...unchanged, at: now, showPreviewUrl: true }, state);
  expect(isRefusal(outcome)).toBe(false);
  expect(state).toStrictEqual(copy);
});
