import { describe, expect, test } from '@jest/globals';
import type { PushEvent } from '../../src/events/push/push.events.js';
import { createKeyedLimit } from '../../src/platform/keyedLimit.js';
import { pushProcess } from '../../src/workers/push/push.process.js';
import { expectRepeatable, given } from '../support/given.js';

const pushed = (commit: string, previousCommit?: string): PushEvent => ({
  type: 'DefaultBranchPushed',
  data: { websiteId: 'w1', commit, ...(previousCommit !== undefined && { previousCommit }) },
});
const record = (commit: string, previousCommit?: string) =>
  ({ type: 'RecordPush', websiteId: 'w1', commit, ...(previousCommit !== undefined && { previousCommit }) }) as const;

describe('a push', () => {
  test.each([
    ['the first', [], record('b', 'a'), [pushed('b', 'a')]],
    ['another', [pushed('b', 'a')], record('c', 'b'), [pushed('c', 'b')]],
    ['back to an earlier commit', [pushed('b', 'a'), pushed('c', 'b')], record('b', 'c'), [pushed('b', 'c')]],
    ['of which nobody knows what was there before', [], record('b'), [pushed('b')]],
  ] as const)('%s is recorded, once', (_which, events, command, outcome) => {
    given(pushProcess, events).when(command).then(outcome);
    expectRepeatable(pushProcess, events, command);
  });

  test('that somebody else noticed already is none', () => {
    given(pushProcess, [pushed('b', 'a')])
      .when(record('b', 'a'))
      .then([]);
  });
});

test('a limit for each key holds up nobody else', async () => {
  const limit = createKeyedLimit(1);
  const order: string[] = [];
  let end = (): void => undefined;
  const first = limit('ada', () => new Promise<void>((resolve) => (end = resolve)));
  const second = limit('ada', () => Promise.resolve(order.push('ada')));
  await limit('ben', () => Promise.resolve(order.push('ben')));
  expect(order).toStrictEqual(['ben']);
  end();
  await Promise.all([first, second]);
  expect(order).toStrictEqual(['ben', 'ada']);
});
