import { describe, expect, test } from '@jest/globals';
import type { SiteEvent } from '../../src/events/site/site.events.js';
import { commandAfterDeployment, siteProcess } from '../../src/workers/site/site.process.js';
import { expectRepeatable, given as givenEvents, recorded, stateAfter as after } from '../support/given.js';

const websiteId = 'w1';
const values = { name: 'Bread', slug: 'bakery' };
const leaseUntil = '2026-01-01T00:00:06.000Z';
const queued: SiteEvent = { type: 'SiteRedeployQueued', data: { websiteId, redeployId: 'r1' } };
const started: SiteEvent = { type: 'SiteUpdateStarted', data: { websiteId, attempt: 1, worker: 'a', leaseUntil } };
const set: SiteEvent = { type: 'SiteVariablesSet', data: { websiteId, attempt: 1, ...values } };
const redeployed: SiteEvent = {
  type: 'SiteRedeployed',
  data: { websiteId, attempt: 1, redeployId: 'r1', deploymentId: 'd1' },
};
const givenUp: SiteEvent = { type: 'SiteUpdateFailed', data: { websiteId, attempt: 1, error: 'No', transient: false } };
const redeployFailed: SiteEvent = {
  type: 'SiteRedeployFailed',
  data: { websiteId, attempt: 1, redeployId: 'r1', error: 'No', transient: false },
};
const reopened: SiteEvent = { type: 'SiteUpdateReopened', data: { websiteId } };

const queue = { type: 'QueueRedeploy', websiteId, redeployId: 'r1' } as const;
const recordVariables = { type: 'RecordVariables', websiteId, attempt: 1, values } as const;
const recordRedeploy = { type: 'RecordRedeploy', websiteId, attempt: 1, redeployId: 'r1', deploymentId: 'd1' } as const;
const reopen = { type: 'ReopenUpdate', websiteId } as const;

const inLog = (events: readonly SiteEvent[]) => events.map((event, revision) => recorded(event, { revision }));
const given = (...events: readonly SiteEvent[]) => givenEvents(siteProcess, inLog(events));
const stateAfter = (...events: readonly SiteEvent[]) => after(siteProcess, inLog(events));

describe('the update of a site', () => {
  test('sets the variables under the lease of the attempt, and ends', () => {
    given(started).when(recordVariables).then([set]);
    expect(stateAfter(started, set)).toEqual({
      set: values,
      isServed: true,
      queued: [],
      attempts: { attempt: 1, failures: 0, retriedForMs: 0 },
    });
    given(started, set).when(recordVariables).then([]);
    given().when(recordVariables).then([]);
  });

  test('goes on to what is queued, and ends after the last', () => {
    given(queued, started, set).when(recordRedeploy).then([redeployed]);
    expect(stateAfter(queued, started, set).attempts.lease).toBeDefined();
    expect(stateAfter(queued, started, set, redeployed)).toMatchObject({ queued: [], attempts: { attempt: 1 } });
    expect(stateAfter(queued, started, set, redeployed).attempts.lease).toBeUndefined();
  });

  test('says whether the site is served, in an attempt of its own', () => {
    const serving: SiteEvent = { type: 'SiteServingChanged', data: { websiteId, attempt: 1, isServed: false } };
    const record = { type: 'RecordServing', websiteId, attempt: 1, isServed: false } as const;
    given(queued, started).when(record).then([serving]);
    given(queued, started, serving).when(record).then([]);
    expect(stateAfter(queued, started, serving)).toEqual({
      isServed: false,
      queued: ['r1'],
      attempts: { attempt: 1, failures: 0, retriedForMs: 0 },
    });
  });

  test('has one attempt at a time', () => {
    const start = { type: 'StartAttempt', websiteId, attempt: 2, worker: 'b' } as const;
    given(started).when(start).then([]);
    expect(given(started, set).when({ ...start, attempt: 2 }).outcome).toMatchObject([{ type: 'SiteUpdateStarted' }]);
  });

  test('is tried again after a fault that may pass, and given up after another', () => {
    const fault = { error: 'No', transient: true, retryAfterMs: 0 };
    const record = { type: 'RecordFailure', websiteId, attempt: 1, fault, jitter: 0 } as const;
    expect(given(started).when(record).outcome).toMatchObject([{ data: { nextAttemptAt: expect.any(String) } }]);
    given(queued, started)
      .when({ ...record, fault: { ...fault, transient: false } })
      .then([givenUp]);
    expect(stateAfter(queued, started, givenUp)).toMatchObject({
      queued: [],
      givenUpAt: expect.anything(),
      lastFault: { error: 'No', transient: false },
    });
  });

  test('whose deployment fails for good goes on to what is queued behind it', () => {
    const behind: SiteEvent = { type: 'SiteRedeployQueued', data: { websiteId, redeployId: 'r2' } };
    const fault = { error: 'No', transient: false, retryAfterMs: 0 };
    const record = { type: 'RecordFailure', websiteId, attempt: 1, redeployId: 'r1', fault, jitter: 0 } as const;
    given(queued, behind, started, set).when(record).then([redeployFailed]);
    expect(stateAfter(queued, behind, started, set, redeployFailed)).toEqual({
      set: values,
      isServed: true,
      queued: ['r2'],
      attempts: { attempt: 1, failures: 0, retriedForMs: 0 },
    });
    const forNow = { ...record, fault: { ...fault, transient: true } };
    expect(given(queued, behind, started, set).when(forNow).outcome).toMatchObject([{ type: 'SiteUpdateFailed' }]);
  });

  test('that was given up is reopened by what came after it, and by a deployment that is queued', () => {
    const position = stateAfter(started, givenUp).givenUpAt ?? 0n;
    given(started, givenUp).when(reopen).then([reopened]);
    given(started, givenUp)
      .when({ ...reopen, position: position + 1n })
      .then([reopened]);
    given(started, givenUp)
      .when({ ...reopen, position: position - 1n })
      .then([]);
    given(started).when(reopen).then([]);
    expect(stateAfter(started, givenUp, queued)).not.toHaveProperty('givenUpAt');
  });

  test.each([
    ['a queued deployment', [], queue],
    ['variables', [started], recordVariables],
    ['a deployment', [queued, started, set], recordRedeploy],
    [
      'a failed deployment',
      [queued, started],
      {
        type: 'RecordFailure',
        websiteId,
        attempt: 1,
        redeployId: 'r1',
        fault: { error: 'No', transient: false, retryAfterMs: 0 },
        jitter: 0,
      },
    ],
    ['a reopening', [started, givenUp], reopen],
  ] as const)('says nothing new when %s is repeated', (_, events, command) => {
    expectRepeatable(siteProcess, inLog(events), command);
  });
});

describe('after a deployment', () => {
  const website = { id: websiteId, built: { name: 'Bakery', slug: 'bakery' } };
  const shown = { type: 'RecordDeployment', websiteId, deploymentId: 'd1', values } as const;

  test.each([
    ['that is served: what the site shows', 'ready', values, shown],
    ['that goes on: its end is waited for', 'building', values, queue],
    ['that failed: nothing', 'failed', values, null],
    ['with what the site showed before: nothing', 'ready', website.built, null],
  ] as const)('%s is recorded', (_, status, built, command) => {
    const deployment = { id: 'd1', status };
    expect(commandAfterDeployment(website, { redeployId: 'r1', deployment, values: built })).toEqual(command);
  });
});
