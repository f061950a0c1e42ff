import { describe, expect, test } from '@jest/globals';
import type { SeoEvent, SeoScanResult } from '../../src/events/seo/seo.events.js';
import { seoScanProcess, type ScanOutcome } from '../../src/workers/seo/seo.process.js';
import { failUntilGivenUp } from '../support/retries.js';
import { expectRepeatable, given as givenEvents, now, recorded } from '../support/given.js';

const url = 'https://bakery.example/';
const scan = { websiteId: 'w1', scanId: 's1' };
const other = { ...scan, scanId: 's2' };
const leaseUntil = '2026-01-02T00:00:06.000Z';
const result: SeoScanResult = {
  url,
  score: 100,
  pages: 1,
  complete: true,
  findings: [],
  probes: { status: 'notConfigured', answers: [] },
};

const given = (events: readonly SeoEvent[] = []) =>
  givenEvents(
    seoScanProcess,
    events.map((event, revision) => recorded(event, { revision })),
  );
const requested = (of = scan): SeoEvent => ({ type: 'SeoScanRequested', data: { ...of, url, trigger: 'request' } });
const started = (attempt = 1, worker = 'A'): SeoEvent => ({
  type: 'SeoScanStarted',
  data: { ...scan, attempt, worker, leaseUntil },
});
const completed: SeoEvent = { type: 'SeoScanCompleted', data: { ...scan, attempt: 1, ...result } };
const failed = (attempt: number, nextAttemptAt?: string): SeoEvent => ({
  type: 'SeoScanAttemptFailed',
  data: { ...scan, attempt, error: 'Oh', transient: true, ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
});
const givenUp: SeoEvent = { type: 'SeoScanFailed', data: { ...scan, reason: 'Oh' } };

const request = (of = scan) => ({ type: 'RequestScan', ...of, url, trigger: 'request' }) as const;
const start = { type: 'StartAttempt', worker: 'B' } as const;
const failure = { type: 'RecordFailure', fault: { error: 'Oh', transient: true, retryAfterMs: 0 }, jitter: 0 } as const;
const outcomes: ScanOutcome[] = [{ type: 'RecordResult', result }, failure, { type: 'RenewLease', lease: 1n }];
const say = (attempt: number, outcome: ScanOutcome, of = scan) => ({ ...of, attempt, ...outcome });

const over: [string, SeoEvent[]][] = [
  ['completed', [requested(), started(), completed]],
  ['failed', [requested(), started(), failed(1), givenUp]],
];

describe('a scan', () => {
  test('is asked for', () => {
    given().when(request()).then([requested()]);
  });

  test.each([
    ['queued', [requested()]],
    ['running', [requested(), started()]],
    ['waiting', [requested(), started(), failed(1, now)]],
  ])('is not asked for again while one is %s', (_, events) => {
    given(events).when(request(other)).then([]);
  });

  test.each(over)('is asked for after the last one %s, and not by the same request again', (_, events) => {
    given(events)
      .when(request(other))
      .then([requested(other)]);
    given(events).when(request()).then([]);
  });

  test('is begun by the worker that takes the lease', () => {
    given([requested()])
      .when(say(1, start))
      .then([started(1, 'B')]);
    given([requested(), started()]).when(say(2, start)).then([]);
    given([requested(), started()])
      .when(say(2, { ...start, waitedOut: 1n }))
      .then([started(2, 'B')]);
  });

  test('ends with its result', () => {
    given([requested(), started()])
      .when(say(1, { type: 'RecordResult', result }))
      .then([completed]);
  });

  test('is tried again after a fault for now, for 15 minutes, and given up then, or after a fault for good', () => {
    given([requested(), started()])
      .when(say(1, failure))
      .then([failed(1, '2026-01-02T00:00:00.500Z')]);
    const { pauses, retriedForMs, last } = failUntilGivenUp(seoScanProcess, [requested()], {
      start: (attempt, waitedOut) => say(attempt, { ...start, waitedOut }),
      fail: (attempt) => say(attempt, failure),
    });
    expect(retriedForMs).toBe(15 * 60_000);
    expect(last).toStrictEqual([failed(pauses.length + 1), givenUp]);
    const { outcome } = given([requested(), started()]).when(
      say(1, { ...failure, fault: { ...failure.fault, transient: false } }),
    );
    expect(outcome).toMatchObject([{ type: 'SeoScanAttemptFailed', data: { transient: false } }, { type: 'SeoScanFailed' }]);
  });

  test('keeps its lease as long as it is renewed', () => {
    given([requested(), started()])
      .when(say(1, { type: 'RenewLease', lease: 1n }))
      .then([{ type: 'SeoScanLeaseRenewed', data: { ...scan, attempt: 1, leaseUntil } }]);
    given([requested(), started()])
      .when(say(1, { type: 'RenewLease', lease: 0n }))
      .then([]);
  });
});

describe.each([start, ...outcomes].map((outcome) => [outcome.type, outcome] as const))('%s', (_, outcome) => {
  test.each(over)('of a scan that is %s changes nothing', (__, events) => {
    given(events).when(say(1, outcome)).then([]);
  });

  test('of another scan, of another attempt, or without a lease changes nothing', () => {
    given([requested(), started()])
      .when(say(1, outcome, other))
      .then([]);
    given([requested(), started(), started(2, 'B')])
      .when(say(1, outcome))
      .then([]);
    given([requested(), started(), failed(1, now)])
      .when(say(1, outcome))
      .then([]);
    given().when(say(1, outcome)).then([]);
  });

  test('repeated, changes nothing more', () => {
    const events = outcome.type === 'StartAttempt' ? [requested()] : [requested(), started()];
    const all = events.map((event, revision) => recorded(event, { revision }));
    const command = say(1, outcome);
    expect(givenEvents(seoScanProcess, all).when(command).outcome).not.toStrictEqual([]);
    expectRepeatable(seoScanProcess, all, command);
  });
});

test('a request, repeated, changes nothing more', () => {
  expectRepeatable(seoScanProcess, [], request());
});
