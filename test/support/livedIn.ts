import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createWebsite, expectAllThere, invite, nothingYet, relabel } from './acknowledged.js';
import { eventually } from './eventually.js';
import { createApi, operate, type Api } from './server.js';
import { formOf } from './upload.js';

/** Makes an installation that is lived in: websites, people, delivery blocks, documents, mails. */
export const liveIn = async (address: string, token: string, dataDir: string, websites: number): Promise<void> => {
  const api = createApi(address, token);
  const made = nothingYet();
  for (let index = 0; index < websites; index += 1) await createWebsite(api, made, String(index));
  for (const { id } of made.websites.values()) {
    await relabel(api, made, id, `first ${id}`);
    await relabel(api, made, id, `second ${id}`);
    await invite(api, made, id, id);
    await upload(address, token, id);
  }
  await expectAllThere(api, made, dataDir);
  await eventually('a mail to everybody who was invited', async () => {
    const { body } = await api.get('/outbox?limit=200');
    return (body as readonly unknown[]).length >= websites || undefined;
  });
};

const upload = async (address: string, token: string, websiteId: string): Promise<void> => {
  const { raw, headers } = formOf({ content: randomBytes(50_000), name: 'plan.bin' });
  const response = await fetch(`${address}/v1/websites/${websiteId}/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: raw,
  });
  expect(response.status).toBe(201);
};

/** What the service answers to an admin, all of it: by path, without the addresses that it runs at or ran at. */
export const answersOf = async (address: string, token: string): Promise<ReadonlyMap<string, unknown>> => {
  const api = createApi(address, token);
  const answers = new Map<string, unknown>();
  const ask = async (path: string): Promise<unknown> => {
    const body = await listOnceBuilt(api, path);
    answers.set(path, withoutPorts(body));
    return body;
  };
  const websites = (await ask('/websites?limit=200')) as readonly { readonly id: string }[];
  // An entry's id has its position in the log in it, and so the time and the place that it is listed at.
  const audit = (await ask('/audit?limit=200')) as readonly Readonly<Record<string, unknown>>[];
  answers.set(
    '/audit?limit=200',
    audit.map(({ id, ...entry }) => [typeof id, withoutPorts(entry)]),
  );
  for (const path of ['/clients?limit=200', '/outbox?limit=200', '/search?q=site', '/invoices', '/me']) await ask(path);
  for (const { id } of websites) {
    const parts = [
      '',
      '/clients',
      '/delivery',
      '/delivery/history',
      '/provisioning',
      '/provisioning/receipts',
      '/deployments',
      '/billing',
    ];
    for (const part of parts) await ask(`/websites/${id}${part}`);
    for (const document of (await ask(`/websites/${id}/documents`)) as readonly { readonly id: string }[]) {
      const { body } = await api.get(`/websites/${id}/documents/${document.id}/url`);
      const response = await fetch((body as { url: string }).url);
      answers.set(`content of ${document.id}`, hashOf(Buffer.from(await response.arrayBuffer())));
    }
  }
  return answers;
};

/** A service that was started again has another port. */
const withoutPorts = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://here'));

/** A list waits for its read model, which is made anew after a move. */
const listOnceBuilt = (api: Api, path: string): Promise<unknown> =>
  eventually(`an answer to ${path}`, async () => {
    const { status, body } = await api.get(path);
    if (status === 503) return undefined;
    expect([path, status]).toEqual([path, 200]);
    return body;
  });

/** Resolves once no worker has anything left to react to. */
export const workersAreDone = (dataDir: string, environment: Readonly<Record<string, string>>): Promise<true> =>
  eventually(
    'the workers having reacted to everything',
    async () => {
      const { workers } = JSON.parse(await operate(dataDir, 'workersStatus', ['--json'], environment)) as {
        readonly workers: readonly { readonly ms: number }[];
      };
      return workers.every(({ ms }) => ms === 0) || undefined;
    },
    60_000,
  );

/** The content of every file of a data folder that no process uses. */
export const filesOf = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  // What SQLite has not taken into a file yet, it takes with the next opening.
  for (const name of ['events.db', 'read-models.db', 'records.db', 'vault.db']) {
    const database = new DatabaseSync(join(folder, name));
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const files = new Map<string, string>();
  for (const path of paths.filter((one) => !/\.db-(?:wal|shm)$/.test(one))) files.set(path, hashOf(await readFile(path)));
  return files;
};

const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
