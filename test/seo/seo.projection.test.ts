import { describe, expect, test } from '@jest/globals';
import { seoEvents, type SeoScanResult } from '../../src/events/seo/seo.events.js';
import { seoProjection, type SeoDocument, type SeoScan } from '../../src/projections/seo/seo.projection.js';
import { recorded } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const earlier = '2026-01-01T00:00:00.000Z';
const url = 'https://bakery.example/';
const scan = { websiteId: 'w1', scanId: 's2' };
const queued: SeoScan = { id: 's2', status: 'queued', trigger: 'request', url, requestedAt: earlier };
const older: SeoScan = { ...queued, id: 's1', status: 'failed', finishedAt: earlier, reason: 'Oh' };
const withScan = (changes: Partial<SeoScan> = {}): SeoDocument => ({
  websiteId: 'w1',
  scans: [{ ...queued, ...changes }, older],
});

const result: SeoScanResult = {
  url: `${url}home`,
  score: 92,
  pages: 2,
  complete: true,
  findings: [{ rule: 'noindex', severity: 'error', message: 'm', advice: 'a', affected: 1, pages: [url] }],
  probes: { status: 'notConfigured', answers: [] },
};

describeProjection(seoProjection, [seoEvents], {
  SeoScanRequested: [
    { when: { ...scan, url, trigger: 'request' }, then: { websiteId: 'w1', scans: [{ ...queued, requestedAt: happened }] } },
    {
      shows: 'the newest is the first',
      given: { websiteId: 'w1', scans: [older] },
      when: { ...scan, url, trigger: 'schedule' },
      then: { websiteId: 'w1', scans: [{ ...queued, trigger: 'schedule', requestedAt: happened }, older] },
    },
  ],
  SeoScanStarted: [
    {
      given: withScan(),
      when: { ...scan, attempt: 1, worker: 'A', leaseUntil: happened },
      then: withScan({ status: 'running' }),
    },
  ],
  SeoScanAttemptFailed: [
    {
      given: withScan({ status: 'running' }),
      when: { ...scan, attempt: 1, error: 'Away', transient: true, nextAttemptAt: happened },
      then: withScan({ status: 'running', reason: 'Away' }),
    },
  ],
  SeoScanCompleted: [
    {
      shows: 'the error of an earlier attempt goes',
      given: withScan({ status: 'running', reason: 'Away' }),
      when: { ...scan, attempt: 2, ...result },
      then: withScan({ status: 'completed', finishedAt: happened, ...result }),
    },
  ],
  SeoScanFailed: [
    {
      given: withScan({ status: 'running', reason: 'Away' }),
      when: { ...scan, reason: 'Gone' },
      then: withScan({ status: 'failed', finishedAt: happened, reason: 'Gone' }),
    },
  ],
});

describe('the scans of a website', () => {
  test('are kept for half a year of weeks', () => {
    let document: SeoDocument | null = null;
    for (let index = 0; index < 40; index += 1) {
      const data = { websiteId: 'w1', scanId: `s${index}`, url, trigger: 'schedule' } as const;
      document = seoProjection.evolve(document, recorded({ type: 'SeoScanRequested', data }, { revision: index }));
    }
    expect(document?.scans.map(({ id }) => id)).toStrictEqual(Array.from({ length: 26 }, (_, index) => `s${39 - index}`));
  });
});
