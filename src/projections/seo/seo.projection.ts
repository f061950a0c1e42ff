import type { SeoEvent, SeoFinding, SeoProbes } from '../../events/seo/seo.events.js';
import { seoStream } from '../../events/seo/seo.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** The last scans of a website, newest first. */
export type SeoDocument = {
  readonly websiteId: string;
  readonly scans: readonly SeoScan[];
};

export type SeoScan = {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'completed' | 'failed';
  readonly trigger: 'request' | 'schedule';
  readonly url: string;
  readonly requestedAt: string;
  readonly finishedAt?: string;
  /** The error that ended the scan, or that of its last attempt. */
  readonly reason?: string;
  readonly score?: number;
  readonly pages?: number;
  readonly complete?: boolean;
  readonly findings?: readonly SeoFinding[];
  readonly probes?: SeoProbes;
};

/** Half a year of weekly scans. */
const maxScans = 26;

const changeScan = (document: SeoDocument | null, scanId: string, change: (scan: SeoScan) => SeoScan): SeoDocument | null =>
  document === null ? null : { ...document, scans: document.scans.map((scan) => (scan.id === scanId ? change(scan) : scan)) };

export const seoProjection: Projection<SeoDocument, SeoEvent> = defineProjection({
  name: 'seo',
  version: 1,
  stream: seoStream,
  on: {
    SeoScanRequested: (document, { data: { websiteId, scanId, url, trigger }, metadata }) => {
      const scan: SeoScan = { id: scanId, status: 'queued', trigger, url, requestedAt: metadata.at };
      return { websiteId, scans: [scan, ...(document?.scans ?? [])].slice(0, maxScans) };
    },
    SeoScanStarted: (document, { data }) => changeScan(document, data.scanId, (scan) => ({ ...scan, status: 'running' })),
    SeoScanAttemptFailed: (document, { data }) => changeScan(document, data.scanId, (scan) => ({ ...scan, reason: data.error })),
    SeoScanCompleted: (document, { data, metadata }) => {
      const { scanId, url, score, pages, complete, findings, probes } = data;
      return changeScan(document, scanId, ({ reason: _, ...scan }) => ({
        ...scan,
        status: 'completed',
        finishedAt: metadata.at,
        url,
        score,
        pages,
        complete,
        findings,
        probes,
      }));
    },
    SeoScanFailed: (document, { data, metadata }) =>
      changeScan(document, data.scanId, (scan) => ({
        ...scan,
        status: 'failed',
        finishedAt: metadata.at,
        reason: data.reason,
      })),
  },
  ignores: ['SeoScanLeaseRenewed'],
});
