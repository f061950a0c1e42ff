import { describe, expect, test } from '@jest/globals';
import type { RedeployEvent } from '../../src/events/deployment/deployment.events.js';
import { redeployMarker, redeployProcess, commandAfterStart } from '../../src/workers/deployment/deployment.process.js';
import { expectRepeatable, given as givenEvents, recorded } from '../support/given.js';

const redeploy = { redeployId: 'r1', websiteId: 'w1' };
const requested: RedeployEvent = { type: 'RedeployRequested', data: { ...redeploy, provider: 'embedded', projectId: 'p1' } };
const started: RedeployEvent = { type: 'RedeployStarted', data: { ...redeploy, deploymentId: 'd1' } };
const notStarted: RedeployEvent = { type: 'RedeployNotStarted', data: { ...redeploy, reason: 'Oh' } };

const request = { type: 'RequestRedeploy', ...redeploy, provider: 'embedded', projectId: 'p1' } as const;
const recordStart = { type: 'RecordStart', ...redeploy, deploymentId: 'd1' } as const;
const recordNoStart = { type: 'RecordNoStart', ...redeploy, reason: 'Oh' } as const;

const given = (...events: readonly RedeployEvent[]) =>
  givenEvents(
    redeployProcess,
    events.map((event, revision) => recorded(event, { revision })),
  );

describe('a redeploy', () => {
  test('is requested once', () => {
    given().when(request).then([requested]);
    given(requested).when(request).then([]);
    given(requested, started).when(request).then([]);
    given(requested, notStarted).when(request).then([]);
  });

  test('says when its build had failed as it was begun', () => {
    const command = commandAfterStart(redeploy, { id: 'd1', status: 'failed' });
    given(requested)
      .when(command)
      .then([{ type: 'RedeployStarted', data: { ...redeploy, deploymentId: 'd1', failed: true } }]);
    expect(commandAfterStart(redeploy, { id: 'd1', status: 'building' })).toStrictEqual(recordStart);
  });

  test('is started once, also after it was found not to have started', () => {
    given(requested).when(recordStart).then([started]);
    given(requested, notStarted).when(recordStart).then([started]);
    given(requested, started)
      .when({ ...recordStart, deploymentId: 'd2' })
      .then([]);
  });

  test('that started is not found not to have started, however late that is reported', () => {
    given(requested).when(recordNoStart).then([notStarted]);
    given(requested, started).when(recordNoStart).then([]);
    given(requested, notStarted)
      .when({ ...recordNoStart, reason: 'Ah' })
      .then([]);
  });

  test('that nobody requested has no outcome', () => {
    given().when(recordStart).then([]);
    given().when(recordNoStart).then([]);
  });

  test.each([
    ['a request', [], request],
    ['a start', [requested], recordStart],
    ['no start', [requested], recordNoStart],
  ] as const)('says nothing new when %s is repeated', (_, events, command) => {
    expectRepeatable(
      redeployProcess,
      events.map((event, revision) => recorded(event, { revision })),
      command,
    );
  });

  test('has a marker of its own', () => {
    expect(redeployMarker('r1')).not.toBe(redeployMarker('r2'));
  });
});
