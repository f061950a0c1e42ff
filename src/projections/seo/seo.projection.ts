import { type SeoEvent, type SeoFinding, type SeoProbes } from '../../events/seo/seo.events.js';
import type { Projection } from '../projection.js';
import { seoStream } from '../../events/seo/seo.stream.js';

/** The scans of a website, newest first: half a year of weekly ones. */
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
  /** Why it failed, or what went wrong in the last attempt. */
  readonly reason?: string;
  readonly score?: number;
  readonly pages?: number;
  readonly complete?: boolean;
  readonly findings?: readonly SeoFinding[];
  readonly probes?: SeoProbes;
};

const MOST_SCANS = 26;

export const seoProjection: Projection<SeoDocument, SeoEvent> = {
  name: 'seo',
  version: 1,
  handles: ['SeoScanRequested', 'SeoScanStarted', 'SeoScanCompleted', 'SeoScanAttemptFailed', 'SeoScanFailed'],
  ignores: ['SeoScanLeaseRenewed'],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => seoStream.name({ websiteId }),
  indexes: [],
  evolve: (document, event) => {
    const { at } = event.metadata;
    const { websiteId, scanId } = event.data;
    if (event.type === 'SeoScanRequested') {
      const { url, trigger } = event.data;
      const scan: SeoScan = { id: scanId, status: 'queued', trigger, url, requestedAt: at };
      return { websiteId, scans: [scan, ...(document?.scans ?? [])].slice(0, MOST_SCANS) };
    }
    if (document === null) return null;
    const change = (changed: (scan: SeoScan) => SeoScan): SeoDocument => ({
      ...document,
      scans: document.scans.map((scan) => (scan.id === scanId ? changed(scan) : scan)),
    });
    switch (event.type) {
      case 'SeoScanStarted':
        return change((scan) => ({ ...scan, status: 'running' }));
      case 'SeoScanAttemptFailed':
        return change((scan) => ({ ...scan, reason: event.data.error }));
      case 'SeoScanCompleted': {
        const { url, score, pages, complete, findings, probes } = event.data;
        return change(({ reason: _, ...scan }) => ({
          ...scan,
          status: 'completed',
          finishedAt: at,
          url,
          score,
          pages,
          complete,
          findings,
          probes,
        }));
      }
      case 'SeoScanFailed':
        return change((scan) => ({ ...scan, status: 'failed', finishedAt: at, reason: event.data.reason }));
      default:
        return document;
    }
  },
};
