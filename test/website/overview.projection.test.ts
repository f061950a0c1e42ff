import { describe, expect, test } from '@jest/globals';
import type { Recorded } from '../../src/events/envelope.js';
import { overviewProjection, type WebsiteOverview } from '../../src/projections/website/overview.projection.js';
import { toListed } from '../../src/projections/website/website.queries.js';
import { recorded } from '../support/given.js';

const at = '2026-01-03T00:00:00.000Z';
const websiteId = 'w1';
const job = { jobId: 'j1', websiteId };

const created = {
  type: 'WebsiteCreated',
  data: {
    websiteId,
    name: 'Bäckerei',
    slug: 'bakery',
    templateId: 'business',
    tier: 'starter',
    features: ['content'],
    collaborators: [],
    provisioningJobId: 'j1',
  },
};
const block = {
  websiteId,
  estimatedCompletionAt: '2026-03-01T12:00:00.000Z',
  showPreviewUrl: false,
  checkpoints: [
    { id: 'kickoff', label: 'Kickoff', order: 10, status: 'done', completedAt: at },
    { id: 'texts', label: 'Texts', order: 20, status: 'in_progress', neededFromClient: 'The texts' },
    { id: 'qa', label: 'QA', order: 30, status: 'pending', dueAt: '2026-02-01T12:00:00.000Z' },
  ],
};
const setUp = { type: 'DeliverySetUp', data: block };
const started = {
  type: 'ProvisioningStepStarted',
  data: { ...job, step: 'github_create_repo', attempt: 1, worker: 'x', leaseUntil: at },
};
const failed = { type: 'ProvisioningFailed', data: { ...job, step: 'github_create_repo', reason: 'No account' } };

type Happened = { readonly type: string; readonly data: object };

const fold = (...events: readonly Happened[]): WebsiteOverview | null =>
  events.reduce<WebsiteOverview | null>((overview, event, index) => {
    const happened = recorded(event, { revision: index, at, stream: 'any' }) as Recorded;
    return overviewProjection.evolve(overview, happened as Parameters<typeof overviewProjection.evolve>[1]);
  }, null);

describe('the overview projection', () => {
  test('of a new website: its job is queued, it has no ETA and needs nobody', () => {
    expect(fold(created)).toMatchObject({
      website: { id: websiteId, name: 'Bäckerei', status: 'provisioning' },
      job: { id: 'j1', websiteId, status: 'queued' },
      provisioning: 'queued',
      attention: [],
      etaAscending: 'never',
      etaDescending: '',
      lateFrom: 'never',
      terms: expect.arrayContaining(['^bac', 'cke', 'ker', 'ery', 'y']),
    });
  });

  test('sums up the delivery', () => {
    const overview = fold(created, setUp) as WebsiteOverview;
    expect(toListed(overview).delivery).toStrictEqual({
      estimatedCompletionAt: block.estimatedCompletionAt,
      counts: { pending: 1, in_progress: 1, done: 1 },
      current: { id: 'texts', label: 'Texts' },
      lateFrom: '2026-02-01T12:00:00.000Z',
      neededFromClient: [{ id: 'texts', label: 'Texts', text: 'The texts' }],
    });
    expect(overview).toMatchObject({
      attention: ['waiting'],
      etaAscending: block.estimatedCompletionAt,
      etaDescending: block.estimatedCompletionAt,
      // The first deadline of what is open is earlier than the ETA.
      lateFrom: '2026-02-01T12:00:00.000Z',
    });
  });

  test('keeps of the steps of its job what lists say of them', () => {
    const output = { provider: 'embedded', id: 'r1', name: 'bakery', cloneUrl: 'file:///bakery.git', defaultBranch: 'main' };
    const succeeded = { type: 'ProvisioningStepSucceeded', data: { ...job, step: 'github_create_repo', attempt: 1, output } };
    const overview = fold(created, started, succeeded) as WebsiteOverview;
    expect(overview.job.steps.slice(0, 2)).toStrictEqual([
      { id: 'github_create_repo', status: 'succeeded', attempts: 1 },
      { id: 'github_invite_collaborator', status: 'pending', attempts: 0 },
    ]);
    expect(toListed(overview).provisioning).toStrictEqual({ status: 'running', step: 'github_invite_collaborator', attempts: 0 });
  });

  test('what is done is neither waited for nor late', () => {
    const done = (checkpointId: string, previousStatus: string): Happened => ({
      type: 'DeliveryCheckpointStatusSet',
      data: { websiteId, checkpointId, status: 'done', previousStatus, completedAt: at },
    });
    expect(fold(created, setUp, done('qa', 'pending'))).toMatchObject({ lateFrom: block.estimatedCompletionAt });
    const finished = fold(created, setUp, done('qa', 'pending'), done('texts', 'in_progress'));
    expect(finished).toMatchObject({ lateFrom: 'never', attention: [] });
    expect(toListed(finished as WebsiteOverview).delivery?.counts).toStrictEqual({ pending: 0, in_progress: 0, done: 3 });
  });

  test('a delivery without checkpoints is late from its ETA on', () => {
    const overview = fold(created, { type: 'DeliverySetUp', data: { ...block, checkpoints: [] } });
    expect(overview).toMatchObject({ lateFrom: block.estimatedCompletionAt });
  });

  test('sums up the provisioning', () => {
    const running = fold(created, started) as WebsiteOverview;
    expect(toListed(running).provisioning).toStrictEqual({ status: 'running', step: 'github_create_repo', attempts: 1 });
    const overview = fold(created, started, failed) as WebsiteOverview;
    expect(toListed(overview).provisioning).toStrictEqual({
      status: 'failed',
      step: 'github_create_repo',
      attempts: 1,
      reason: 'No account',
    });
    expect(overview).toMatchObject({ provisioning: 'failed', attention: ['failed'] });
    const retried = fold(created, started, failed, {
      type: 'ProvisioningRetried',
      data: { ...job, step: 'github_create_repo', run: 2 },
    });
    expect(retried).toMatchObject({ provisioning: 'queued', attention: [] });
  });

  test('a deployment that was not begun needs somebody until the next one', () => {
    const redeploy = { redeployId: 'r1', websiteId };
    const notStarted = { type: 'RedeployNotStarted', data: { ...redeploy, reason: 'unknown' } };
    expect(fold(created, notStarted)).toMatchObject({ attention: ['failed'] });
    const again = { type: 'RedeployRequested', data: { ...redeploy, provider: 'embedded', projectId: 'p' } };
    expect(fold(created, notStarted, again)).toMatchObject({ attention: [] });
  });

  describe('of deployments', () => {
    const redeploy = { redeployId: 'r1', websiteId };
    const attempt = { websiteId, attempt: 1 };
    const fault = { error: 'Oh', transient: false };
    const begun = { type: 'RedeployStarted', data: { ...redeploy, deploymentId: 'd1' } };
    const begunFailed = { type: 'RedeployStarted', data: { ...begun.data, failed: true } };
    const queued = { type: 'SiteRedeployQueued', data: redeploy };
    const made = { type: 'SiteRedeployed', data: { ...attempt, redeployId: 'r1', deploymentId: 'd1' } };
    const notMade = { type: 'SiteRedeployFailed', data: { ...attempt, ...fault, redeployId: 'r1' } };
    const givenUp = { type: 'SiteUpdateFailed', data: { ...attempt, ...fault } };
    const triedAgain = { type: 'SiteUpdateFailed', data: { ...attempt, ...fault, nextAttemptAt: at } };

    test.each([
      ['one whose build had failed when it was begun', [begunFailed]],
      ['a queued one that failed', [queued, notMade]],
      ['a queued one that was given up with the update of the site', [queued, givenUp]],
      ['one that goes on as a queued one and is given up', [queued, begun, givenUp]],
      [
        'the second of two queued ones that is given up',
        [queued, { ...queued, data: { ...redeploy, redeployId: 'r2' } }, made, givenUp],
      ],
      ['one that failed before an update of the site did', [begunFailed, triedAgain, givenUp]],
    ])('%s needs somebody, until one succeeds', (_, events) => {
      expect(fold(created, ...events)).toMatchObject({ attention: ['failed'] });
      for (const next of [begun, made]) expect(fold(created, ...events, next)).toMatchObject({ attention: [] });
    });

    test.each([
      ['one that was begun', [begun]],
      ['a queued one that is tried again', [queued, triedAgain]],
      ['a queued one that was made', [queued, made]],
      ['an update of the site that was given up with nothing to deploy', [queued, made, givenUp]],
    ])('%s needs nobody', (_, events) => {
      expect(fold(created, ...events)).toMatchObject({ attention: [] });
    });
  });

  test('a new name is found, and keeps what is known of delivery and provisioning', () => {
    const renamed = { type: 'WebsiteRenamed', data: { websiteId, name: 'Zoo' } };
    const overview = fold(created, setUp, started, renamed);
    expect(overview).toMatchObject({ name: 'Zoo', delivery: block, job: { status: 'running' } });
    expect(overview?.terms).toContain('zoo');
    expect(overview?.terms).not.toContain('cke');
  });

  test('of a deleted website nothing comes back', () => {
    const deleted = { type: 'WebsiteDeleted', data: { websiteId, slug: 'bakery', keep: [] } };
    expect(fold(created, deleted)).toBeNull();
    expect(fold(created, deleted, setUp, started)).toBeNull();
  });
});
