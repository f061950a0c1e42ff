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

test('a fault that may pass is waited for, and the steps that are done stay done', () => {
  const { outcome } = given(started, done).when(fail);
  expect(outcome).toMatchObject([{ type: 'DeletionFailed', data: { nextAttemptAt: expect.any(String) } }]);
  expect(stateAfter(deletionProcess, inLog([started, done, ...(outcome as DeletionEvent[])])).done).toEqual(['access']);
});

test('after any other fault it is given up', () => {
  const givenUp: DeletionEvent = { type: 'DeletionFailed', data: { websiteId, attempt: 1, error: 'No', transient: false } };
  given(started)
    .when({ ...fail, fault: { ...fault, transient: false } })
    .then([givenUp]);
  given(started, givenUp).when(start).then([]);
});

test('repeating changes nothing', () => {
  expectRepeatable(deletionProcess, inLog([started]), record);
  expectRepeatable(deletionProcess, [], { ...start, attempt: 1 });
});
