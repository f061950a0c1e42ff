import { describe, expect, test } from '@jest/globals';
import type { InvitationMailEvent } from '../../src/events/invitationMail/invitationMail.events.js';
import { invitationMailProcess, type MailOutcome } from '../../src/workers/invitationMail/invitationMail.process.js';
import { failUntilGivenUp } from '../support/retries.js';
import { expectRepeatable, given as givenEvents, now, recorded } from '../support/given.js';

const mail = { websiteId: 'w1', invitationId: 'i1', eventId: 'e1' };
const other = { ...mail, eventId: 'e2' };
const leaseUntil = '2026-01-02T00:00:06.000Z';

const given = (events: readonly InvitationMailEvent[] = []) =>
  givenEvents(
    invitationMailProcess,
    events.map((event, revision) => recorded(event, { revision })),
  );
const started = (attempt = 1, worker = 'A', of = mail): InvitationMailEvent => ({
  type: 'InvitationMailStarted',
  data: { ...of, attempt, worker, leaseUntil },
});
const sent = (attempt = 1, of = mail): InvitationMailEvent => ({ type: 'InvitationMailSent', data: { ...of, attempt } });
const failed = (attempt: number, nextAttemptAt?: string): InvitationMailEvent => ({
  type: 'InvitationMailFailed',
  data: { ...mail, attempt, error: 'Oh', transient: true, ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
});
const parked: InvitationMailEvent = { type: 'InvitationMailParked', data: { ...mail, reason: 'Oh' } };
const dropped: InvitationMailEvent = { type: 'InvitationMailDropped', data: { ...mail, attempt: 1, reason: 'Revoked' } };

const reopened: InvitationMailEvent = { type: 'InvitationMailReopened', data: mail };

const start = { type: 'StartAttempt', worker: 'B' } as const;
const failure = { type: 'RecordFailure', fault: { error: 'Oh', transient: true, retryAfterMs: 0 }, jitter: 0 } as const;
const say = (attempt: number, outcome: MailOutcome, of = mail) => ({ ...of, attempt, ...outcome });

const over: [string, InvitationMailEvent[]][] = [
  ['sent', [started(), sent()]],
  ['dropped', [started(), dropped]],
  ['parked', [started(), failed(1), parked]],
];
const outcomes: MailOutcome[] = [
  { type: 'RecordSent' },
  { type: 'RecordDropped', reason: 'Revoked' },
  failure,
  { type: 'RenewLease', lease: 0n },
];

describe('starting a mail', () => {
  test('takes the lease', () => {
    given()
      .when(say(1, start))
      .then([started(1, 'B')]);
  });

  test('that somebody else is at changes nothing, until the lease was waited out', () => {
    given([started()]).when(say(2, start)).then([]);
    given([started()])
      .when(say(2, { ...start, waitedOut: 0n }))
      .then([started(2, 'B')]);
  });

  test('before its pause is over changes nothing', () => {
    given([started(), failed(1, now)])
      .when(say(2, start))
      .then([]);
    given([started(), failed(1, now)])
      .when(say(2, { ...start, waitedOut: 1n }))
      .then([started(2, 'B')]);
  });

  test('is a matter of that mail alone: another one of the same invitation is sent beside it', () => {
    given([started(), sent()])
      .when(say(1, start, other))
      .then([started(1, 'B', other)]);
  });

  test.each(over)('that is %s changes nothing', (_, events) => {
    given(events).when(say(2, start)).then([]);
  });
});

describe('an outcome', () => {
  test('is recorded', () => {
    given([started()])
      .when(say(1, { type: 'RecordSent' }))
      .then([sent()]);
    given([started()])
      .when(say(1, { type: 'RecordDropped', reason: 'Revoked' }))
      .then([dropped]);
    given([started()])
      .when(say(1, { type: 'RenewLease', lease: 0n }))
      .then([{ type: 'InvitationMailLeaseRenewed', data: { ...mail, attempt: 1, leaseUntil } }]);
  });

  test('that is a fault for now means another attempt, for 24 hours; then the mail is parked', () => {
    given([started()])
      .when(say(1, failure))
      .then([failed(1, '2026-01-02T00:00:00.500Z')]);
    const { pauses, retriedForMs, last } = failUntilGivenUp(invitationMailProcess, [], {
      start: (attempt, waitedOut) => say(attempt, { ...start, waitedOut }),
      fail: (attempt) => say(attempt, failure),
      attemptMs: 1_000,
    });
    expect(retriedForMs).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(retriedForMs).toBeLessThanOrEqual(24 * 3_600_000 + 1_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * 60_000);
    expect(last).toStrictEqual([failed(pauses.length + 1), parked]);
  });

  test('is retried for as long after a week in which no worker ran, and on a clock that is an hour ahead', () => {
    const begun = recorded(started(1), { revision: 0, at: '2025-12-24T00:00:00.000Z' });
    const fault = recorded(failed(1, '2025-12-24T00:00:02.000Z'), { revision: 1, at: '2025-12-24T00:00:01.000Z' });
    const again = recorded(started(2, 'B'), { revision: 2, at: now });
    const { outcome } = givenEvents(invitationMailProcess, [begun, fault, again]).when(say(2, failure));
    expect(outcome).toMatchObject([{ type: 'InvitationMailFailed', data: { nextAttemptAt: expect.any(String) } }]);
  });

  test('that is a fault for good parks the mail', () => {
    const forGood = { ...failure, fault: { ...failure.fault, transient: false } };
    const { outcome } = given([started()]).when(say(1, forGood));
    expect(outcome).toMatchObject([
      { type: 'InvitationMailFailed', data: { transient: false } },
      { type: 'InvitationMailParked' },
    ]);
  });

  test.each(outcomes.flatMap((outcome) => over.map(([stage, events]) => [outcome.type, stage, outcome, events] as const)))(
    '(%s) of a mail that is %s changes nothing',
    (_, __, outcome, events) => {
      given(events).when(say(1, outcome)).then([]);
    },
  );

  test.each(outcomes.map((outcome) => [outcome.type, outcome] as const))(
    '(%s) changes nothing from a sleeper, early, of another mail, or after the attempt was given up',
    (_, outcome) => {
      given([started(), started(2, 'B')])
        .when(say(1, outcome))
        .then([]);
      given([started()]).when(say(2, outcome)).then([]);
      given([started()])
        .when(say(1, outcome, other))
        .then([]);
      given([started(), failed(1, now)])
        .when(say(1, outcome))
        .then([]);
    },
  );
});

test.each([start, ...outcomes].map((outcome) => [outcome.type, outcome] as const))(
  '%s, repeated, changes nothing more',
  (_, outcome) => {
    const events = outcome.type === 'StartAttempt' ? [] : [recorded(started(), { revision: 0 })];
    const command = say(1, outcome);
    expect(givenEvents(invitationMailProcess, events).when(command).outcome).not.toStrictEqual([]);
    expectRepeatable(invitationMailProcess, events, command);
  },
);

describe('sending again', () => {
  test('opens a parked mail, with all attempts ahead of it and their numbers going on', () => {
    const events = [started(), failed(1), parked];
    given(events)
      .when({ type: 'ReopenMail', ...mail })
      .then([reopened]);
    given([...events, reopened])
      .when(say(2, start))
      .then([started(2, 'B')]);
    given([...events, reopened, started(2)])
      .when(say(2, failure))
      .then([failed(2, '2026-01-02T00:00:00.500Z')]);
  });

  test.each([
    ['is under way', [started()]],
    ['was sent', [started(), sent()]],
    ['is not wanted any more', [started(), dropped]],
    ['is not known', []],
  ])('changes nothing when the mail %s', (_, events) => {
    given(events)
      .when({ type: 'ReopenMail', ...mail })
      .then([]);
  });
});
