import { describe, expect, test } from '@jest/globals';
import type { ReactionEvent } from '../../src/events/reaction/reaction.events.js';
import { REACTION_RETRY_MS, reactionProcess } from '../../src/workers/reaction/reaction.process.js';
import { expectRepeatable, given as givenEvents, now, recorded } from '../support/given.js';

const of = { worker: 'erasure', eventId: 'e1', eventType: 'ClientErased', stream: 'client-c1', revision: '3', position: '42' };
const reason = 'TypeError at erase.ts:3';
const failed: ReactionEvent = { type: 'ReactionFailed', data: { ...of, reason } };
const parked: ReactionEvent = { type: 'ReactionParked', data: { ...of, reason } };
const recovered: ReactionEvent = { type: 'ReactionRecovered', data: of };
const reopened: ReactionEvent = { type: 'ReactionReopened', data: of };
const fail = { type: 'RecordReactionFailure', ...of, reason } as const;
const succeed = { type: 'RecordReactionSuccess', ...of } as const;
const reopen = { type: 'ReopenReaction', ...of } as const;

const before = (ms: number): string => new Date(Date.parse(now) - ms).toISOString();
const given = (events: readonly ReactionEvent[], agoMs = 0) =>
  givenEvents(
    reactionProcess,
    events.map((event, revision) => recorded(event, { revision, at: before(agoMs) })),
  );

describe('a reaction that fails', () => {
  test('is recorded once', () => {
    given([]).when(fail).then([failed]);
    given([failed]).when(fail).then([]);
  });

  test('for a day is parked, once', () => {
    given([failed], REACTION_RETRY_MS - 1)
      .when(fail)
      .then([]);
    given([failed], REACTION_RETRY_MS).when(fail).then([parked]);
    given([failed, parked], 2 * REACTION_RETRY_MS)
      .when(fail)
      .then([]);
  });

  test('and succeeds in the end is over, also when it was parked', () => {
    given([failed]).when(succeed).then([recovered]);
    given([failed, parked]).when(succeed).then([recovered]);
    given([]).when(succeed).then([]);
    given([failed, recovered]).when(succeed).then([]);
  });

  test('is tried again on request, with the whole time ahead of it', () => {
    given([failed, parked]).when(reopen).then([reopened]);
    given([failed]).when(reopen).then([reopened]);
    given([]).when(reopen).then([]);
    given([failed, parked, reopened], 2 * REACTION_RETRY_MS)
      .when(fail)
      .then([failed]);
  });

  test.each([
    ['fail', [], fail],
    ['succeed', [failed], succeed],
    ['reopen', [failed, parked], reopen],
  ] as const)('%s: the same again changes nothing', (_, events, command) => {
    const all = events.map((event, revision) => recorded<ReactionEvent>(event, { revision, at: now }));
    expect(givenEvents(reactionProcess, all).when(command).outcome).not.toStrictEqual([]);
    expectRepeatable(reactionProcess, all, command);
  });
});
