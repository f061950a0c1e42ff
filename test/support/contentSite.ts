import { afterAll, expect } from '@jest/globals';
import { createRoutes } from '../../src/http/routes/index.js';
import type { FindSiteMedia } from '../../src/events/content/content.files.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { createSiteFilesLimit } from '../../src/workers/media/siteMedia.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createDeployments } from '../../src/workers/deployment/deployments.js';
import { createPublicationWorker } from '../../src/workers/publication/publicationWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from './eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from './http.js';
import { deployingOn } from './process.js';

export interface Document {
  readonly id: string;
  readonly hash: string;
  readonly body: Record<string, unknown>;
  readonly publishedHash?: string;
  readonly updatedAt?: string;
}

/** One picture, in two widths; and another that is too large to be published. */
const findMedia: FindSiteMedia = (_websiteId, mediaId) => {
  const variant = (width: number) => ({
    name: `${String(width)}.webp`,
    width,
    type: 'image/webp',
    bytes: 14,
    content: () => Promise.resolve(Buffer.from(`picture of ${String(width)}`)),
  });
  const media = { id: 'loaf', alt: 'A loaf', width: 800, height: 600, variants: [variant(800), variant(400)] };
  if (mediaId.startsWith('film')) {
    return Promise.resolve({ ...media, id: mediaId, variants: [{ ...variant(800), bytes: 50_000_000 }] });
  }
  return Promise.resolve(mediaId === 'loaf' ? media : null);
};

const workers: Worker[] = [];
afterAll(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

interface Pair {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}

/** A website whose content is edited and published, over HTTP. */
export interface Site extends Pair {
  readonly api: RunningApi;
  readonly path: string;
  readonly websiteId: string;
  readonly token: string;
  call(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  read(documentId: string): Promise<Document>;
  /** Over what there is. */
  save(documentId: string, body: unknown): Promise<Document>;
  publish(): Promise<{ readonly status: string; readonly commit: string; readonly id: string }>;
}

/** A provisioned website. @param pairOn - the providers that it is on, given the embedded ones. Default: these */
export const startSite = async (pairOn: (embedded: Pair) => Pair = (embedded) => embedded): Promise<Site> => {
  let used: Pair | undefined;
  const api = await startApi({
    sites: true,
    routes: (parts) => {
      used = pairOn({ sourceHost: parts.sourceHost, hosting: parts.hosting });
      return createRoutes({ ...parts, ...used, deployments: createDeployments({ ...parts, ...used }), findMedia });
    },
  });
  if (used === undefined) throw new Error('there are no routes');
  const parts = deployingOn(api.engine, used);
  const started = [
    createProvisioningWorker({ ...parts, visit: () => Promise.resolve(200) }),
    createPublicationWorker({ ...parts, findMedia, limitSiteFiles: createSiteFilesLimit() }),
  ];
  workers.push(...started);
  for (const worker of started) await worker.start();
  const token = await api.mintToken();
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } });
  const { id: websiteId } = body as { id: string };
  const path = `/websites/${websiteId}`;
  const call: Site['call'] = (method, more, sent) =>
    api.call(method, `${path}${more}`, { token, ...(sent !== undefined && { body: sent }) });
  await eventually(
    'an active website',
    async () => ((await call('GET', '')).body as { status: string }).status === 'active' || undefined,
    30_000,
  );
  const read: Site['read'] = async (id) => (await call('GET', `/content/${id}`)).body as Document;
  return {
    ...used,
    api,
    path,
    websiteId,
    token,
    call,
    read,
    save: async (id, value) => {
      const { hash } = (await call('GET', `/content/${id}`)).body as Partial<Document>;
      const saved = await call('PUT', `/content/${id}`, { baseHash: hash ?? null, body: value });
      expect([id, saved.status, saved.status === 200 ? '' : saved.text]).toEqual([id, 200, '']);
      return saved.body as Document;
    },
    publish: async () => {
      const answer = await call('POST', '/content/publish');
      expect([answer.status, answer.status === 202 ? '' : answer.text]).toEqual([202, '']);
      return answer.body as { status: string; commit: string; id: string };
    },
  };
};
