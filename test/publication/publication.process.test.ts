import { describe, expect, test } from '@jest/globals';
import type { PublicationEvent } from '../../src/events/publication/publication.events.js';
import { publicationFold, publicationProcess } from '../../src/workers/publication/publication.process.js';
import { expectRepeatable, given as givenEvents, now, stateAfter } from '../support/given.js';

const of = { publicationId: 'p1', websiteId: 'w1' };
const requested: PublicationEvent = { type: 'PublicationRequested', data: of };
const started = (attempt = 1): PublicationEvent => ({
  type: 'PublicationStarted',
  data: { ...of, attempt, worker: 'a', leaseUntil: '2026-01-01T00:00:06.000Z' },
});
const documents = [{ documentId: 'company', hash: 'h' }];
const committed: PublicationEvent = { type: 'PublicationCommitted', data: { ...of, attempt: 1, commit: 'c1', documents } };
const deployed: PublicationEvent = { type: 'PublicationDeployed', data: { ...of, attempt: 1, deploymentId: 'd1' } };
const fault = { error: 'No', transient: true, retryAfterMs: 0 };
const fail = (more = {}) =>
  ({ type: 'RecordFailure', ...of, attempt: 1, fault: { ...fault, ...more }, jitter: 0, provider: 'GitHub' }) as const;
const start = (attempt = 1) => ({ type: 'StartAttempt', ...of, attempt, worker: 'a' }) as const;
const recordCommit = { type: 'RecordCommit', ...of, attempt: 1, commit: 'c1', documents } as const;
const recordDeployment = { type: 'RecordDeployment', ...of, attempt: 1, deploymentId: 'd1' } as const;

const given = (events: readonly PublicationEvent[] = []) => givenEvents(publicationProcess, events);

describe('a publication', () => {
  test('is requested once', () => {
    given()
      .when({ type: 'RequestPublication', ...of })
      .then([requested]);
    given([requested])
      .when({ type: 'RequestPublication', ...of })
      .then([]);
  });

  test('is committed and then deployed, by one worker at a time', () => {
    given([requested])
      .when(start())
      .then([{ type: 'PublicationStarted', data: { ...of, attempt: 1, worker: 'a', leaseUntil: '2026-01-02T00:00:06.000Z' } }]);
    given([requested, started()])
      .when({ ...start(2), worker: 'b' })
      .then([]);
    given([requested, started()]).when(recordCommit).then([committed]);
    given([requested, started(), committed]).when(recordDeployment).then([deployed]);
  });

  test('that another attempt has taken over records nothing of the one before', () => {
    const failed: PublicationEvent = {
      type: 'PublicationFailed',
      data: { ...of, attempt: 1, error: 'No', transient: true, nextAttemptAt: now },
    };
    for (const late of [recordCommit, recordDeployment, fail()])
      given([requested, started(), failed, started(2)])
        .when(late)
        .then([]);
    for (const late of [recordCommit, recordDeployment, fail(), start(2)])
      given([requested, started(), deployed]).when(late).then([]);
  });

  test('is tried again after a transient fault, and given up after another', () => {
    const common = { ...of, attempt: 1, error: 'No', provider: 'GitHub' };
    given([requested, started()])
      .when(fail())
      .then([{ type: 'PublicationFailed', data: { ...common, transient: true, nextAttemptAt: '2026-01-02T00:00:00.500Z' } }]);
    given([requested, started()])
      .when(fail({ transient: false }))
      .then([{ type: 'PublicationFailed', data: { ...common, transient: false } }]);
  });

  test('keeps what it has committed for the next attempt', () => {
    const state = stateAfter(publicationFold, [requested, started(), committed]);
    expect(state.committed).toEqual({ commit: 'c1', documents });
  });

  test.each([
    ['requested', [], { type: 'RequestPublication', ...of }],
    ['started', [requested], start()],
    ['committed', [requested, started()], recordCommit],
    ['deployed', [requested, started(), committed], recordDeployment],
    ['failed', [requested, started()], fail()],
  ] as const)('%s twice is the same', (_, events, command) => {
    expectRepeatable(publicationProcess, [...events], command);
  });
});
