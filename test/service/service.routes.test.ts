import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { secretsOf } from '../../src/commands/service/service.handlers.js';
import type { BookingsQuery } from '../../src/integrations/scheduling/port.js';
import { createServiceSecretsWorker } from '../../src/workers/service/serviceSecretsWorker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';

const canary = 'shpat_canary52f1';
const shop = { kind: 'commerce', shopDomain: 'Corner-Bakery.myshopify.com', secrets: { adminToken: canary } };

let api: RunningApi;
let token: string;
let websiteId: string;
let path: string;
const asked: BookingsQuery[] = [];

beforeAll(async () => {
  const ownScheduling = {
    provider: 'Cal.com',
    bookings: (query: BookingsQuery) => {
      asked.push(query);
      return Promise.resolve([]);
    },
    count: () => Promise.resolve(7),
  };
  api = await startApi({ ownScheduling });
  token = await api.mintToken();
});

let count = 0;
beforeEach(async () => {
  count += 1;
  const body = { name: 'Bakery', slug: `bakery-${count}`, tier: 'scale' };
  websiteId = ((await api.call('POST', '/websites', { token, body })).body as { id: string }).id;
  path = `/websites/${websiteId}/services`;
});

const post = (body: unknown, url = path): Promise<ApiAnswer> => api.call('POST', url, { token, body });
const list = async (): Promise<unknown> => (await api.call('GET', path, { token })).body;
const attach = async (body: unknown): Promise<string> => ((await post(body)).body as { id: string }).id;

describe('a service', () => {
  test('is attached, listed and taken away; its secrets are in the vault for as long', async () => {
    const attached = await post(shop);
    const { id } = attached.body as { id: string };
    expect(attached).toMatchObject({
      status: 201,
      body: { websiteId, kind: 'commerce', shopDomain: 'corner-bakery.myshopify.com', secretNames: ['adminToken'] },
    });
    expect(await list()).toStrictEqual([attached.body]);
    expect(await secretsOf(api.engine, id)).toStrictEqual({ adminToken: canary });

    expect((await api.call('DELETE', `${path}/${id}`, { token })).status).toBe(204);
    expect(await list()).toStrictEqual([]);
    expect(await secretsOf(api.engine, id)).toStrictEqual({});
    expect((await api.call('DELETE', `${path}/${id}`, { token })).status).toBe(404);
  });

  test('is listed newest first, in pages', async () => {
    const shopId = await attach(shop);
    const siteId = await attach({ kind: 'analytics', siteId: 'bakery.example' });
    const first = await api.call('GET', `${path}?limit=1`, { token });
    expect(first.body).toMatchObject([{ id: siteId }]);
    const next = /\/v1([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? 'none';
    await attach({ kind: 'analytics', siteId: 'other.example' });
    expect((await api.call('GET', next, { token })).body).toMatchObject([{ id: shopId }]);
  });

  test('takes the place of the one of its kind, whose secrets are destroyed', async () => {
    const first = await attach(shop);
    const second = await attach({ ...shop, secrets: { adminToken: 'shpat_next' } });
    expect(await list()).toMatchObject([{ id: second }]);
    expect(await secretsOf(api.engine, first)).toStrictEqual({});
    expect(await secretsOf(api.engine, second)).toStrictEqual({ adminToken: 'shpat_next' });
  });

  test('keeps secrets of any names, which never come back', async () => {
    const secrets = { token: canary, 'webhook.secret': `${canary} with spaces` };
    const answer = await post({ kind: 'analytics', secrets });
    expect(answer).toMatchObject({ status: 201, body: { kind: 'analytics', secretNames: ['token', 'webhook.secret'] } });
    expect(answer.body).not.toHaveProperty('siteId');
    expect(answer.text).not.toContain(canary);
    expect(await secretsOf(api.engine, (answer.body as { id: string }).id)).toStrictEqual(secrets);
  });

  test('that is only tried leaves nothing, in the vault either', async () => {
    const { status, body } = await post(shop, `${path}?dryRun=1`);
    const [{ data }] = (body as { events: [{ data: { serviceId: string } }] }).events;
    expect(status).toBe(200);
    expect(await secretsOf(api.engine, data.serviceId)).toStrictEqual({});
    expect(await list()).toStrictEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['no shop', { kind: 'commerce' }, 'shopDomain: is required'],
    [
      'another domain',
      { ...shop, shopDomain: 'evil.example' },
      'shopDomain: must be the shop’s own domain, as in corner-bakery.myshopify.com; got 12 characters',
    ],
    ['a field of another kind', { ...shop, siteId: 'x' }, 'siteId: is not a field of a commerce service'],
    ['a secret that is no text', { ...shop, secrets: { other: 5 } }, 'secrets.other: must be text; got a number'],
    ['an empty secret', { ...shop, secrets: { other: '' } }, 'secrets.other: must not be empty'],
    ['a secret that is too long', { ...shop, secrets: { x: 'x'.repeat(4_001) } }, 'secrets.x: must have at most 4000 characters'],
    [
      'a secret of a strange name',
      { ...shop, secrets: { 'no name': 'x' } },
      'secrets.no name: use 1 to 64 letters, digits, dots, dashes and underscores, a letter first; got 7 characters',
    ],
    [
      'too many secrets',
      { ...shop, secrets: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`s${String(index)}`, 'x'])) },
      'secrets: must hold at most 20 fields',
    ],
    ['an unknown kind', { kind: 'blog' }, 'kind: must be one of commerce, scheduling, analytics; got 4 characters'],
  ])('with %s is refused', async (_, body, issue) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error: `Invalid request body — ${issue}` } });
  });

  test('that is unknown cannot be taken away', async () => {
    const answer = await api.call('DELETE', `${path}/none`, { token });
    expect(answer).toMatchObject({ status: 404, body: { error: 'Service none not found' } });
  });

  test('needs the feature of its kind, from one request to the next', async () => {
    const patch = (body: unknown) => api.call('PATCH', `/websites/${websiteId}`, { token, body });
    await patch({ features: ['analytics'] });
    const off = { status: 403, body: { error: 'Website does not have the commerce feature enabled' } };
    expect(await post(shop)).toMatchObject(off);
    expect((await post({ kind: 'analytics', siteId: 'bakery.example' })).status).toBe(201);
    await patch({ features: ['commerce'] });
    expect((await post(shop)).status).toBe(201);
    expect(await patch({ tier: 'growth', features: ['commerce'] })).toMatchObject({
      status: 403,
      body: { error: 'commerce is not available on the growth tier' },
    });
    await patch({ tier: 'starter' });
    expect(await post(shop)).toMatchObject(off);
  });
});

test('an account of its own is asked for bookings, which are then not written here', async () => {
  await attach({ kind: 'scheduling', eventTypeIds: [7], secrets: { apiKey: 'cal_own' } });
  expect((await api.call('GET', `/websites/${websiteId}/bookings`, { token })).status).toBe(200);
  expect(asked.at(-1)?.site).toMatchObject({ websiteId, eventTypeIds: [7], apiKey: 'cal_own' });
  const bookings = `/websites/${websiteId}/bookings`;
  expect((await api.call('GET', `${bookings}?count=true`, { token })).headers.get('total-count')).toBe('7');
  expect(await api.call('GET', `${bookings}?ids=b1`, { token })).toMatchObject({
    status: 400,
    body: { error: 'Invalid query — ids: bookings in Cal.com cannot be read by their ids' },
  });
  const booking = { title: 'Tasting', start: '2031-01-01T09:00:00.000Z', end: '2031-01-01T10:00:00.000Z' };
  expect(await post(booking, `/websites/${websiteId}/bookings`)).toMatchObject({
    status: 400,
    body: { error: 'Bookings are made and cancelled in Cal.com' },
  });
});

test('secrets that a detachment has left, because its process ended, are destroyed by a worker', async () => {
  const id = await attach(shop);
  const worker = createServiceSecretsWorker(partsOf(api.engine));
  await api.call('DELETE', `${path}/${id}`, { token });
  await api.engine.vault.storeSecret(id, Buffer.from('{"adminToken":"left"}'));
  await worker.start();
  try {
    await eventually('the secret is gone', async () => ((await api.engine.vault.secret(id)) === null ? true : undefined));
  } finally {
    await worker.stop();
  }
});

test('no secret of a service is in an answer, in the log, or in a file', async () => {
  const answers = [await post(shop), await post({ ...shop, secrets: { adminToken: canary, other: canary } })];
  answers.push(await post({ ...shop, shopDomain: canary }), await api.call('GET', path, { token }));
  for (const { text } of [answers[0], answers[1], answers[3]] as ApiAnswer[]) expect(text).not.toContain(canary);
  expect(JSON.stringify(api.log)).not.toContain(canary);
  const files = readdirSync(api.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  expect(contents.some((content) => content.includes('ServiceAttached'))).toBe(true);
  expect(contents.filter((content) => content.includes(canary))).toStrictEqual([]);
});
