import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** `kill -9` in the middle of everything, again and again (docs/architecture.md, "What survives what"). */
const kills = 100;

interface Website {
  readonly id: string;
  readonly slug: string;
  status: string;
}

/** What the clients were told, and therefore may rely on. */
interface Acknowledged {
  /** By slug. */
  readonly websites: Map<string, Website>;
  /** Website id → address → role. */
  readonly access: Map<string, Map<string, string>>;
  /** Website id → label of the checkpoint as last acknowledged. */
  readonly labels: Map<string, Set<string>>;
}

test(`nothing acknowledged is lost, nothing is made twice, and all work ends, after ${String(kills)} kills under load`, async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const told: Acknowledged = { websites: new Map(), access: new Map(), labels: new Map() };
  // Requests whose answer was lost are repeated with the same key until they are answered.
  const unanswered: { path: string; body: { slug?: string }; key: string }[] = [];

  for (let round = 0; round < kills; round += 1) {
    const server = await startServer(dataDir);
    const api = createApi(server.address, token);
    const killed = pause(randomInt(10, 160)).then(() => server.kill('SIGKILL'));
    const load = async (lane: number): Promise<void> => {
      for (let step = 0; ; step += 1) {
        await oneWrite(api, told, unanswered, `${String(round)}-${String(lane)}-${String(step)}`, lane, round);
      }
    };
    const lanes = [0, 1, 2, 3].map((lane) => load(lane).catch((error: unknown) => error));
    expect(await killed).toBe('SIGKILL');
    // What ended each lane is the connection that broke, and nothing that the service answered.
    for (const end of await Promise.all(lanes)) expect(String(end)).toMatch(/fetch failed|terminated|socket|other side closed/i);
  }

  const server = await startServer(dataDir);
  const api = createApi(server.address, token);
  for (const { path, body, key } of unanswered) {
    const { status, body: answer } = await api.post(path, body, { 'idempotency-key': key });
    expect({ path, status }).toEqual({ path, status: 201 });
    const website = answer as Website;
    told.websites.set(website.slug, website);
  }

  expect(told.websites.size).toBeGreaterThan(kills / 4);
  for (const { id, slug } of told.websites.values()) {
    const website = await eventually(
      `website ${slug} becoming active`,
      async () => {
        const { body } = await api.get(`/websites/${id}`);
        return (body as Website).status === 'active' ? (body as Website) : undefined;
      },
      30_000,
    );
    expect(website.slug).toBe(slug);
    const { body: job } = await api.get(`/websites/${id}/provisioning`);
    expect((job as { status: string }).status).toBe('succeeded');
    expect((await fetch(`${server.address}/sites/${slug}/`)).status).toBe(200);
  }

  for (const [id, expected] of told.access) {
    const { body } = await api.get(`/websites/${id}/clients`);
    const { links, invitations } = body as Record<'links' | 'invitations', { email: string; role: string }[]>;
    const roles = [...links, ...invitations].map(({ email, role }) => [email, role] as const);
    expect(new Set(roles.map(([email]) => email)).size).toBe(roles.length);
    for (const [email, role] of expected) expect(roles).toContainEqual([email, role]);
  }

  for (const [id, labels] of told.labels) {
    const { body } = await api.get(`/websites/${id}/delivery/history?limit=200`);
    const history = JSON.stringify(body);
    for (const label of labels) expect(history.split(JSON.stringify(label)).length).toBeGreaterThan(1);
  }

  // Nothing was made twice: one repository and one hosting project for each website, no half-made leftovers.
  const { body: all } = await api.get('/websites?limit=200');
  const slugs = (all as Website[]).map(({ slug }) => slug).sort();
  expect(new Set(slugs).size).toBe(slugs.length);
  const repositories = (await readdir(join(dataDir, 'repositories'))).filter(
    (name) => name.endsWith('.git') && !name.startsWith('.'),
  );
  expect(repositories.map((name) => name.replace(/\.git$/, '')).sort()).toEqual(slugs);

  expect(await server.kill('SIGTERM')).toBe(0);
}, 240_000);

const oneWrite = async (
  api: Api,
  told: Acknowledged,
  unanswered: { path: string; body: { slug?: string }; key: string }[],
  unique: string,
  lane: number,
  round: number,
): Promise<void> => {
  const websites = [...told.websites.values()];
  const some = websites[randomInt(Math.max(1, websites.length))];
  // A website in every second round, so that the list stays on one page and every run has some half-built ones to go on with.
  if (some === undefined || (lane === 0 && unique.endsWith('-0') && round % 2 === 0)) {
    const slug = `site-${unique}`;
    const request = { path: '/websites', body: { name: `Site ${unique}`, slug }, key: randomUUID() };
    unanswered.push(request);
    const { status, body } = await api.post(request.path, request.body, { 'idempotency-key': request.key });
    expect(status).toBe(201);
    unanswered.splice(unanswered.indexOf(request), 1);
    told.websites.set(slug, body as Website);
  } else if (lane === 1) {
    const email = `person-${unique}@example.com`;
    const { status } = await api.post(`/websites/${some.id}/clients`, { email, role: 'editor' });
    expect(status).toBe(201);
    const people = told.access.get(some.id) ?? new Map<string, string>();
    told.access.set(some.id, people.set(email, 'editor'));
  } else {
    const label = `Label ${unique}`;
    const { status } = await api.put(`/websites/${some.id}/delivery`, {
      estimatedCompletionAt: '2030-01-01T00:00:00.000Z',
      showPreviewUrl: true,
      checkpoints: [{ id: 'only', label, order: 10, status: 'pending' }],
    });
    expect(status).toBe(200);
    told.labels.set(some.id, (told.labels.get(some.id) ?? new Set()).add(label));
  }
};
