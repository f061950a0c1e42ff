import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { eventually } from './eventually.js';
import type { Api } from './server.js';
import { repositoryNames } from './folders.js';

export interface Website {
  readonly id: string;
  readonly slug: string;
  readonly status: string;
}

/** All acknowledged writes, which must not be lost. */
export interface Acknowledged {
  /** By slug. */
  readonly websites: Map<string, Website>;
  /** Website id → address → role. */
  readonly access: Map<string, Map<string, string>>;
  /** Website id → labels of the checkpoint, each acknowledged once. */
  readonly labels: Map<string, Set<string>>;
  /** Website id → the highest revision of its delivery block. */
  readonly revisions: Map<string, number>;
  /** Creations without a response; they are retried with the same key until they have one. */
  readonly unanswered: Creation[];
}

interface Creation {
  readonly path: string;
  readonly body: { readonly name: string; readonly slug: string };
  readonly key: string;
}

export const nothingYet = (): Acknowledged => ({
  websites: new Map(),
  access: new Map(),
  labels: new Map(),
  revisions: new Map(),
  unanswered: [],
});

/** Creates a website and records the response; `unique` must not be used for another one. */
export const createWebsite = async (api: Api, acknowledged: Acknowledged, unique: string): Promise<void> => {
  const slug = `site-${unique}`;
  const request = { path: '/websites', body: { name: `Site ${unique}`, slug }, key: randomUUID() };
  acknowledged.unanswered.push(request);
  await answerTo(api, acknowledged, request);
  acknowledged.unanswered.splice(acknowledged.unanswered.indexOf(request), 1);
};

const answerTo = async (api: Api, acknowledged: Acknowledged, { path, body, key }: Creation): Promise<void> => {
  const { status, body: answer } = await api.post(path, body, { 'idempotency-key': key });
  expect({ path, status, answer }).toMatchObject({ path, status: 201 });
  acknowledged.websites.set(body.slug, answer as Website);
};

/** Retries every creation that has no response yet. */
const repeatUnanswered = async (api: Api, acknowledged: Acknowledged): Promise<void> => {
  for (const request of acknowledged.unanswered.splice(0)) await answerTo(api, acknowledged, request);
};

/** Invites somebody to a website. */
export const invite = async (api: Api, acknowledged: Acknowledged, websiteId: string, unique: string): Promise<void> => {
  const email = `person-${unique}@example.com`;
  const { status } = await api.post(
    `/websites/${websiteId}/clients`,
    { email, role: 'editor' },
    { 'idempotency-key': randomUUID() },
  );
  expect(status).toBe(201);
  const people = acknowledged.access.get(websiteId) ?? new Map<string, string>();
  acknowledged.access.set(websiteId, people.set(email, 'editor'));
};

/** Changes the delivery block of a website. */
export const relabel = async (api: Api, acknowledged: Acknowledged, websiteId: string, unique: string): Promise<void> => {
  const label = `Label ${unique}`;
  const { status, body } = await api.put(`/websites/${websiteId}/delivery`, {
    estimatedCompletionAt: '2030-01-01T00:00:00.000Z',
    showPreviewUrl: true,
    checkpoints: [{ id: 'only', label, order: 10, status: 'pending' }],
  });
  expect(status).toBe(200);
  const { revision } = body as { revision: number };
  acknowledged.labels.set(websiteId, (acknowledged.labels.get(websiteId) ?? new Set()).add(label));
  acknowledged.revisions.set(websiteId, Math.max(revision, acknowledged.revisions.get(websiteId) ?? 0));
};

/**
 * Checks that all requested work succeeds, and that everything acknowledged exists exactly once.
 */
export const expectAllThere = async (api: Api, acknowledged: Acknowledged, dataDir: string): Promise<void> => {
  await repeatUnanswered(api, acknowledged);
  for (const { id, slug } of acknowledged.websites.values()) {
    // A worker that dies in between leaves an active website and a job that another worker will
    // complete.
    const job = await eventually(
      `the provisioning of ${slug} coming to an end`,
      async () => {
        const { body } = await api.get(`/websites/${id}/provisioning`);
        const { status } = body as { status: string };
        return status === 'succeeded' || status === 'failed' ? body : undefined;
      },
      30_000,
    );
    const { body: website } = await api.get(`/websites/${id}`);
    expect([job, website]).toEqual([
      expect.objectContaining({ status: 'succeeded' }),
      expect.objectContaining({ slug, status: 'active' }),
    ]);
  }

  for (const [id, expected] of acknowledged.access) {
    const { body } = await api.get(`/websites/${id}/clients`);
    const { links, invitations } = body as Record<'links' | 'invitations', { email: string; role: string }[]>;
    const roles = [...links, ...invitations].map(({ email, role }) => [email, role] as const);
    expect(new Set(roles.map(([email]) => email)).size).toBe(roles.length);
    for (const [email, role] of expected) expect(roles).toContainEqual([email, role]);
  }

  for (const [id, labels] of acknowledged.labels) {
    const history = await wholeHistory(api, id);
    for (const label of labels) expect(history).toContain(JSON.stringify(label));
  }

  // Nothing was created twice: one repository for each website, and no drafts.
  const { body: all } = await api.get('/websites?limit=200');
  const slugs = (all as Website[]).map(({ slug }) => slug).sort();
  expect(new Set(slugs).size).toBe(slugs.length);
  expect(await repositoryNames(dataDir)).toEqual(slugs);
};

/** As text, to search it for labels. */
const wholeHistory = async (api: Api, websiteId: string): Promise<string> => {
  let history = '';
  for (let path: string | undefined = `/websites/${websiteId}/delivery/history?limit=200`; path !== undefined;) {
    const { headers, body } = await api.get(path);
    history += JSON.stringify(body);
    path = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return history;
};
