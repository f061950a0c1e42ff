import { expect, test } from '@jest/globals';
import type { DeletionEvent } from '../../src/events/deletion/deletion.events.js';
import { deletionProcess } from '../../src/workers/deletion/deletion.process.js';
import { expectRepeatable, given as givenEvents, recorded, stateAfter } from '../support/given.js';

const websiteId = 'w1';
const leaseUntil = '2026-01-01T00:00:06.000Z';
const started: DeletionEvent = { type: 'DeletionStarted', data: { websiteId, attempt: 1, worker: 'a', leaseUntil } };
const done: DeletionEvent = { type: 'DeletionStepDone', data: { websiteId, attempt: 1, step: 'access', removed: 2 } };
const record = { type: 'RecordStep', websiteId, attempt: 1, step: 'access', removed: 2 } as const;
const fault = { error: 'No', transient: true, retryAfterMs: 0 };
const fail = { type: 'RecordFailure', websiteId, attempt: 1, fault, jitter: 0 } as const;
const start = { type: 'StartAttempt', websiteId, attempt: 2, worker: 'b' } as const;

const inLog = (events: readonly DeletionEvent[]) => events.map((event, revision) => recorded(event, { revision }));
const given = (...events: readonly DeletionEvent[]) => givenEvents(deletionProcess, inLog(events));

test('each step is done once, by the attempt that has the lease', () => {
  given(started).when(record).then([done]);
  given(started, done).when(record).then([]);
  given().when(record).then([]);
  given(started).when(start).then([]);
  expect(stateAfter(deletionProcess, inLog([started, done])).done).toEqual(['access']);
});

test.each([
  ['that may pass', true],
  // Its token may be replaced by one that may delete.
  ['of the provider that does not pass by itself', false],
])('a fault %s is waited for, and the steps that are done stay done', (_, transient) => {
  const { outcome } = given(started, done).when({ ...fail, fault: { ...fault, transient } });
  expect(outcome).toMatchObject([{ type: 'DeletionFailed', data: { transient, nextAttemptAt: expect.any(String) } }]);
  expect(stateAfter(deletionProcess, inLog([started, done, ...(outcome as DeletionEvent[])])).done).toEqual(['access']);
});

test('after 30 days of faults it is given up', () => {
  const failed: DeletionEvent = {
    type: 'DeletionFailed',
    data: { websiteId, attempt: 1, error: 'No', transient: true, nextAttemptAt: '2026-01-01T01:00:00.000Z' },
  };
  const again: DeletionEvent = { type: 'DeletionStarted', data: { websiteId, attempt: 2, worker: 'a', leaseUntil } };
  const givenUp: DeletionEvent = { type: 'DeletionFailed', data: { websiteId, attempt: 2, error: 'No', transient: true } };
  // The pause of an hour counts as well.
  given(started, failed, again)
    .when({ ...fail, attempt: 2, at: '2026-01-30T23:00:00.000Z' })
    .then([givenUp]);
  const { outcome } = given(started, failed, again).when({ ...fail, attempt: 2, at: '2026-01-30T22:59:59.999Z' });
  expect(outcome).toMatchObject([{ type: 'DeletionFailed', data: { nextAttemptAt: '2026-01-30T23:00:00.000Z' } }]);
  given(started, failed, again, givenUp)
    .when({ ...start, attempt: 3 })
    .then([]);
});

test('a lease is renewed by the attempt that has it', () => {
  const renew = { type: 'RenewLease', websiteId, attempt: 1, lease: 0n, at: '2026-01-01T00:00:01.000Z' } as const;
  given(started)
    .when(renew)
    .then([{ type: 'DeletionLeaseRenewed', data: { websiteId, attempt: 1, leaseUntil: '2026-01-01T00:00:07.000Z' } }]);
  given(started)
    .when({ ...renew, attempt: 2 })
    .then([]);
});

test('repeating changes nothing', () => {
  expectRepeatable(deletionProcess, inLog([started]), record);
  expectRepeatable(deletionProcess, [], { ...start, attempt: 1 });
});
