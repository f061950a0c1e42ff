import { setImmediate } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createRoutes } from '../../src/http/routes/index.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import type { DeliveryCheckpoint } from '../../src/events/delivery/delivery.events.js';
import { startApi, type ApiAnswer, type ApiOptions, type RunningApi } from './http.js';

/** What the blocks of these tests have. */
export const eta = '2030-03-01T12:00:00.000Z';
export const replacement = { estimatedCompletionAt: eta, showPreviewUrl: false };
export const previewUrlOverride = 'https://preview.example.com/a?b=c';

/** A delivery block as it is answered. */
export interface AnsweredBlock {
  readonly websiteId: string;
  readonly estimatedCompletionAt: string;
  readonly showPreviewUrl: boolean;
  readonly previewUrlOverride?: string;
  readonly checkpoints: readonly DeliveryCheckpoint[];
  readonly previewUrl?: string;
  readonly previewUrlUnavailable?: boolean;
  readonly revision: number;
  readonly updatedAt: string;
}

export interface AnsweredChange {
  readonly revision: number;
  readonly at: string;
  readonly actor: { readonly subject: string };
  readonly type: string;
  readonly changes: readonly { readonly path: string; readonly from: unknown; readonly to: unknown }[];
  readonly reason?: string;
}

type Headers = Readonly<Record<string, string>>;

/** The delivery of one website, as one caller asks for it. */
export interface DeliveryCalls {
  readonly websiteId: string;
  read(query?: string): Promise<ApiAnswer>;
  replace(body: unknown, headers?: Headers, query?: string): Promise<ApiAnswer>;
  setStatus(checkpointId: string, status: unknown, headers?: Headers): Promise<ApiAnswer>;
  history(query?: string): Promise<ApiAnswer>;
  undo(body: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  /** What changed, as clients may see it. */
  changes(query?: string): Promise<ApiAnswer>;
  seen(revision: unknown, query?: string): Promise<ApiAnswer>;
  readers(query?: string): Promise<ApiAnswer>;
}

export const callsOf = (api: RunningApi, token: string, websiteId: string): DeliveryCalls => {
  const path = `/websites/${websiteId}/delivery`;
  return {
    websiteId,
    read: (query = '') => api.call('GET', `${path}${query}`, { token }),
    replace: (body, headers = {}, query = '') => api.call('PUT', `${path}${query}`, { token, body, headers }),
    setStatus: (checkpointId, status, headers = {}) =>
      api.call('PUT', `${path}/checkpoints/${checkpointId}`, { token, body: { status }, headers }),
    history: (query = '') => api.call('GET', `${path}/history${query}`, { token }),
    undo: (body, headers = {}) => api.call('POST', `${path}/undo`, { token, body, headers }),
    changes: (query = '') => api.call('GET', `${path}/changes${query}`, { token }),
    seen: (revision, query = '') => api.call('POST', `${path}/seen${query}`, { token, body: { revision } }),
    readers: (query = '') => api.call('GET', `${path}/readers${query}`, { token }),
  };
};

/**
 * An API whose hosting answers as the test says, with an admin; websites are made as they are
 * needed.
 */
export interface DeliveryApi {
  readonly api: RunningApi;
  /** An admin's. */
  readonly token: string;
  newWebsite(): Promise<DeliveryCalls>;
  /** A website whose block is set up with `body`, by default an empty one. */
  newDelivery(body?: unknown): Promise<DeliveryCalls>;
  /** Links the website to the hosting project `project-1`. */
  activate(websiteId: string): Promise<void>;
  /** What the hosting provider answers from now on. */
  hostingSays(answer: Hosting['latestDeployment']): void;
}

export const startDeliveryApi = async (options: Omit<ApiOptions, 'routes'> = {}): Promise<DeliveryApi> => {
  let latestDeployment: Hosting['latestDeployment'] = () => Promise.resolve(null);
  const api = await startApi({
    ...options,
    routes: (parts) => createRoutes({ ...parts, hosting: { ...parts.hosting, latestDeployment: (id) => latestDeployment(id) } }),
  });
  const token = await api.mintToken();
  let count = 0;

  const newWebsite = async (): Promise<DeliveryCalls> => {
    count += 1;
    const { status, body } = await api.call('POST', '/websites', { token, body: { name: 'A site', slug: `site-${count}` } });
    expect(status).toBe(201);
    return callsOf(api, token, (body as { id: string }).id);
  };

  return {
    api,
    token,
    newWebsite,
    newDelivery: async (body = {}) => {
      const delivery = await newWebsite();
      expect((await delivery.replace(body)).status).toBe(200);
      return delivery;
    },
    activate: async (websiteId) => {
      const project = { provider: 'embedded', projectId: 'project-1', name: 'project-1' };
      const repository = { provider: 'embedded', id: 'r1', name: 'r1', cloneUrl: 'file:///r1.git' };
      await api.engine.handle(
        websiteDecider,
        { type: 'ActivateWebsite', websiteId, repository, hosting: project, url: 'https://site.example' },
        {
          commandId: api.engine.ids.commandId(),
          actor: { subject: 'provisioning', role: 'system', via: 'worker' },
          requestId: 'test',
        },
      );
    },
    hostingSays: (answer) => {
      latestDeployment = answer;
    },
  };
};

/** The body of an answer of 200. */
export const blockOf = ({ status, body, text }: ApiAnswer): AnsweredBlock => {
  if (status !== 200) throw new Error(`${String(status)}: ${text}`);
  return body as AnsweredBlock;
};

export const changesOf = ({ status, body, text }: ApiAnswer): readonly AnsweredChange[] => {
  if (status !== 200) throw new Error(`${String(status)}: ${text}`);
  return body as readonly AnsweredChange[];
};

/** Resolves once the time is another than that of the block's last change. */
export const untilAfter = async ({ updatedAt }: AnsweredBlock): Promise<void> => {
  while (Date.now() <= Date.parse(updatedAt)) await setImmediate();
};
