import type { SeoScanResult } from '../../events/seo/seo.events.js';
import type { LlmGateway } from '../../integrations/llm/port.js';
import { audit } from './audit.js';
import { crawl } from './crawl.js';
import { createFetchPage, type FetchParts } from './fetchPage.js';
import { findingsOf, probe } from './probes.js';

/**
 * Examines a website as search engines and assistants do.
 * @throws ProviderFault when its home page cannot be loaded
 */
export type Scan = (website: { readonly url: string; readonly name: string }) => Promise<SeoScanResult>;

/** For all pages together, in milliseconds. */
const CRAWL_TIMEOUT_MS = 60_000;

export const createScan = (parts: FetchParts & { llm: LlmGateway | undefined }): Scan => {
  const fetchPage = createFetchPage(parts);
  return async ({ url, name }) => {
    const crawlTimeout = new AbortController();
    const cancel = parts.clock.schedule(CRAWL_TIMEOUT_MS, () => {
      crawlTimeout.abort();
    });
    try {
      const site = await crawl(url, fetchPage, crawlTimeout.signal);
      const { score, findings } = audit(site);
      const probes = await probe(parts.llm, name, site, parts.clock);
      return {
        url: site.url,
        score,
        pages: site.pages.length,
        complete: site.complete,
        findings: [...findings, ...findingsOf(probes)],
        probes,
      };
    } finally {
      cancel();
    }
  };
};
