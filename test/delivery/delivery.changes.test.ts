import { describe, expect, test } from '@jest/globals';
import { changesBetween } from '../../src/events/delivery/delivery.changes.js';
import { checkpoint, content, eta } from '../support/delivery.js';
import { now } from '../support/given.js';

describe('what is different between two delivery blocks', () => {
  test('a first block is new in all it has', () => {
    expect(changesBetween(null, content([checkpoint('a')]))).toStrictEqual([
      { path: 'estimatedCompletionAt', from: null, to: eta },
      { path: 'showPreviewUrl', from: null, to: false },
      { path: 'checkpoints.a', from: null, to: checkpoint('a') },
    ]);
  });

  test('nothing, when they are the same', () => {
    expect(changesBetween(content([checkpoint('a')]), content([checkpoint('a')]))).toStrictEqual([]);
  });

  test('fields of the block, set, changed and unset', () => {
    const before = content([], { previewUrlOverride: 'https://p.example' });
    expect(changesBetween(before, content([], { estimatedCompletionAt: now, showPreviewUrl: true }))).toStrictEqual([
      { path: 'estimatedCompletionAt', from: eta, to: now },
      { path: 'showPreviewUrl', from: false, to: true },
      { path: 'previewUrlOverride', from: 'https://p.example', to: null },
    ]);
  });

  test('fields of a checkpoint', () => {
    const before = content([checkpoint('qa', { dueAt: eta, neededFromClient: 'Texts' })]);
    const after = content([checkpoint('qa', { label: 'Tests', order: 0, status: 'done', completedAt: now })]);
    expect(changesBetween(before, after)).toStrictEqual([
      { path: 'checkpoints.qa.label', from: 'QA', to: 'Tests' },
      { path: 'checkpoints.qa.order', from: 10, to: 0 },
      { path: 'checkpoints.qa.status', from: 'pending', to: 'done' },
      { path: 'checkpoints.qa.dueAt', from: eta, to: null },
      { path: 'checkpoints.qa.completedAt', from: null, to: now },
      { path: 'checkpoints.qa.neededFromClient', from: 'Texts', to: null },
    ]);
  });

  test('checkpoints that came and went do not change the sequence of the others', () => {
    const before = content(['a', 'b', 'c'].map((id) => checkpoint(id)));
    const after = content(['new', 'a', 'c'].map((id) => checkpoint(id)));
    expect(changesBetween(before, after)).toStrictEqual([
      { path: 'checkpoints.new', from: null, to: checkpoint('new') },
      { path: 'checkpoints.b', from: checkpoint('b'), to: null },
    ]);
  });

  test('the sequence alone, where the order is the same', () => {
    const before = content(['a', 'b', 'c'].map((id) => checkpoint(id)));
    const after = content(['b', 'a', 'c'].map((id) => checkpoint(id)));
    expect(changesBetween(before, after)).toStrictEqual([{ path: 'checkpoints', from: ['a', 'b', 'c'], to: ['b', 'a', 'c'] }]);
  });
});
