import { expect, test } from '@jest/globals';
import type { DeliveryHistoryEntry } from '../../src/events/delivery/delivery.history.js';
import { reportAsJson, reportOf } from '../../src/operations/deliveryReport.js';
import { checkpoint, content, eta } from '../support/delivery.js';
import { earlier, now, someAdmin } from '../support/given.js';

const history: DeliveryHistoryEntry[] = [
  {
    revision: 0n,
    at: earlier,
    actor: { ...someAdmin, via: 'token', tokenId: 't1' },
    type: 'DeliverySetUp',
    changes: [
      { path: 'estimatedCompletionAt', from: null, to: eta },
      { path: 'checkpoints.qa', from: null, to: checkpoint('qa', { dueAt: eta }) },
    ],
    reason: 'Signed\u001b[2J today',
    reasonVisible: true,
    block: { ...content([checkpoint('qa', { dueAt: eta })]), updatedAt: earlier },
  },
  {
    revision: 1n,
    at: now,
    actor: someAdmin,
    type: 'DeliveryReplaced',
    changes: [
      { path: 'previewUrlOverride', from: null, to: 'https://p.example' },
      { path: 'checkpoints.qa.status', from: 'pending', to: 'done' },
      { path: 'checkpoints.qa.dueAt', from: eta, to: null },
      { path: 'checkpoints.a', from: null, to: checkpoint('a', { neededFromClient: 'Te\u0007xts' }) },
      { path: 'checkpoints', from: ['a', 'qa'], to: ['qa', 'a'] },
    ],
    block: {
      ...content([checkpoint('qa', { status: 'done', completedAt: now })], { previewUrlOverride: 'https://p.example' }),
      updatedAt: now,
    },
  },
];

test('a history as text has its control characters escaped', () => {
  expect(reportOf('w1', history)).toBe(`Delivery of website w1: 2 changes

#0  2026-01-01T00:00:00.000Z  ops@example.com (admin, token t1)  set up
    reason                 Signed\\u{1b}[2J today (clients may be told)
    estimatedCompletionAt  2026-03-01T12:00:00.000Z
    checkpoints.qa         “QA”, order 10, pending, due 2026-03-01T12:00:00.000Z

#1  2026-01-02T00:00:00.000Z  ops@example.com (admin, portal)  replaced
    previewUrlOverride     https://p.example
    checkpoints.qa.status  pending → done
    checkpoints.qa.dueAt   2026-03-01T12:00:00.000Z → none
    checkpoints.a          “A”, order 10, pending, needed from the client: “Te\\u{7}xts”
    checkpoints            a, qa → qa, a

The block at revision 1, since 2026-01-02T00:00:00.000Z:
    estimatedCompletionAt  2026-03-01T12:00:00.000Z
    showPreviewUrl         false
    previewUrlOverride     https://p.example
    checkpoints.qa         “QA”, order 10, done, completed 2026-01-02T00:00:00.000Z
`);
});

test('a history as JSON has revisions as numbers', () => {
  const [first, second] = history;
  if (first === undefined || second === undefined) throw new Error('there are two');
  const { block: _, ...setUp } = first;
  const { block, ...replaced } = second;
  expect(JSON.parse(reportAsJson('w1', history))).toStrictEqual({
    websiteId: 'w1',
    changes: [
      { ...setUp, revision: 0 },
      { ...replaced, revision: 1 },
    ],
    block,
  });
});
