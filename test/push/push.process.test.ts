import { describe, test } from '@jest/globals';
import type { PushEvent } from '../../src/events/push/push.events.js';
import { pushProcess } from '../../src/workers/push/push.process.js';
import { expectRepeatable, given } from '../support/given.js';

const pushed = (commit: string, previousCommit?: string): PushEvent => ({
  type: 'DefaultBranchPushed',
  data: { websiteId: 'w1', commit, ...(previousCommit !== undefined && { previousCommit }) },
});
const record = (commit: string, previousCommit?: string) =>
  ({ type: 'RecordPush', websiteId: 'w1', commit, ...(previousCommit !== undefined && { previousCommit }) }) as const;

const ownMade = (commit: string, previousCommit: string): PushEvent => ({
  type: 'OwnCommitMade',
  data: { websiteId: 'w1', commit, previousCommit },
});
const recordOwn = (commit: string, previousCommit: string) =>
  ({ type: 'RecordOwnCommit', websiteId: 'w1', commit, previousCommit }) as const;

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

describe('a commit that the service makes', () => {
  test.each([
    ['the first', [], recordOwn('b', 'a'), [ownMade('b', 'a')]],
    ['after a push', [pushed('b', 'a')], recordOwn('c', 'b'), [ownMade('c', 'b')]],
  ] as const)('%s is recorded as its own, once', (_which, events, command, outcome) => {
    given(pushProcess, events).when(command).then(outcome);
    expectRepeatable(pushProcess, events, command);
  });

  test('is no push to whoever finds it in the repository', () => {
    given(pushProcess, [ownMade('b', 'a')])
      .when(record('b', 'a'))
      .then([]);
  });

  test('gives way to what is pushed after it', () => {
    given(pushProcess, [ownMade('b', 'a')])
      .when(record('c', 'b'))
      .then([pushed('c', 'b')]);
  });
});
