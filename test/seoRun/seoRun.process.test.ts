import { describe, expect, test } from '@jest/globals';
import type { SeoRunEvent } from '../../src/events/seoRun/seoRun.events.js';
import { seoRunProcess, type RunOutcome } from '../../src/workers/seoRun/seoRun.process.js';
import { expectRepeatable, given as givenEvents, recorded, stateAfter } from '../support/given.js';

const dueAt = '2026-01-02T00:00:00.000Z';
const leaseUntil = '2026-01-02T00:00:06.000Z';
const due: SeoRunEvent = { type: 'SeoRunDue', data: { dueAt } };
const started = (attempt = 1, worker = 'A'): SeoRunEvent => ({
  type: 'SeoRunStarted',
  data: { dueAt, attempt, worker, leaseUntil },
});
const renewed = (after?: string): SeoRunEvent => ({
  type: 'SeoRunLeaseRenewed',
  data: { dueAt, attempt: 1, leaseUntil, ...(after !== undefined && { after }) },
});
const completed: SeoRunEvent = { type: 'SeoRunCompleted', data: { dueAt, attempt: 1 } };

const inStream = (events: readonly SeoRunEvent[]) => events.map((event, revision) => recorded(event, { revision }));
const given = (events: readonly SeoRunEvent[] = []) => givenEvents(seoRunProcess, inStream(events));
const ask = { type: 'RequestRun', dueAt } as const;
const say = (attempt: number, outcome: RunOutcome) => ({ dueAt, attempt, ...outcome });
const start = { type: 'StartAttempt', worker: 'B' } as const;
const renew = { type: 'RenewLease', lease: 1n, after: 'w7' } as const;
const complete = { type: 'CompleteRun' } as const;

describe('a run', () => {
  test('is asked for once', () => {
    given().when(ask).then([due]);
    for (const events of [[due], [due, started()], [due, started(), completed]]) given(events).when(ask).then([]);
  });

  test('is begun by one, and taken over by who has waited its lease out', () => {
    given([due])
      .when(say(1, start))
      .then([started(1, 'B')]);
    given([due, started()]).when(say(2, start)).then([]);
    given([due, started()])
      .when(say(2, { ...start, waitedOut: 1n }))
      .then([started(2, 'B')]);
    given([due, started(), renewed('w7')])
      .when(say(2, { ...start, waitedOut: 1n }))
      .then([]);
  });

  test('keeps its lease as long as it is renewed, and remembers how far it came', () => {
    given([due, started()])
      .when(say(1, renew))
      .then([renewed('w7')]);
    given([due, started()])
      .when(say(1, { ...renew, lease: 0n }))
      .then([]);
    expect(stateAfter(seoRunProcess, inStream([due, started(), renewed('w7')]))).toMatchObject({ after: 'w7' });
    // An attempt that has dealt with none yet says nothing of those before.
    expect(stateAfter(seoRunProcess, inStream([due, started(), renewed('w7'), renewed()]))).toMatchObject({ after: 'w7' });
  });

  test('is over when every website was dealt with', () => {
    given([due, started()]).when(say(1, complete)).then([completed]);
  });
});

describe.each([start, renew, complete].map((outcome) => [outcome.type, outcome] as const))('%s', (_, outcome) => {
  test('of a run that is over, was never asked for, or is in another attempt changes nothing', () => {
    given([due, started(), completed]).when(say(1, outcome)).then([]);
    given().when(say(1, outcome)).then([]);
    given([due, started(), started(2)])
      .when(say(1, outcome))
      .then([]);
  });

  test('repeated, changes nothing more', () => {
    const events = outcome.type === 'StartAttempt' ? [due] : [due, started()];
    expectRepeatable(seoRunProcess, inStream(events), say(1, outcome));
  });
});

test('a request, repeated, changes nothing more', () => {
  expectRepeatable(seoRunProcess, [], ask);
});
