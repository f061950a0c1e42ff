import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { request, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import type { FileStore } from '../../src/integrations/files/port.js';
import { createS3Files } from '../../src/integrations/files/s3.js';
import { systemRandom } from '../../src/platform/random.js';
import { fileSweep } from '../../src/workers/files/fileSweep.js';
import { createFileWorker } from '../../src/workers/files/fileWorker.js';
import type { Environment } from '../../src/platform/settings/environment.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { minioBucket, whereMinioIs } from '../support/minio.js';
import { partsOf } from '../support/process.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { pdf, upload } from '../support/upload.js';

const dayMs = 86_400_000;

const start = async (options: Parameters<typeof startApi>[0] = {}) => {
  const clock = createShiftedClock();
  const api = await startApi({ clock, ...options });
  const token = await api.mintToken();
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } });
  const websiteId = (body as { id: string }).id;
  const path = `/websites/${websiteId}/documents`;
  const files = createEmbeddedFiles({ folder: join(api.folder, 'files'), random: systemRandom });
  const send = async (content: string | Uint8Array = pdf): Promise<string> => {
    const answer = await upload(api, path, { token, content });
    expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
    return (answer.body as { id: string }).id;
  };
  return { api, clock, token, websiteId, path, files, send };
};

const keysIn = async (files: FileStore): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of files.list('')) keys.push(key);
  return keys.sort();
};

/** Everything in the folder, drafts too. */
const namesIn = async (api: RunningApi): Promise<string[]> => {
  const entries = await readdir(join(api.folder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

const content = (text: string): AsyncIterable<Uint8Array> => Readable.from([Buffer.from(text)]);

const sweepOf = ({ engine }: RunningApi, files: FileStore) =>
  fileSweep({ engine, reader: engine, files, records: engine.records });

const never = new AbortController().signal;

describe('files that nothing refers to', () => {
  test('are removed after a week, those of deleted documents after 30 days, and no others', async () => {
    const { api, clock, token, websiteId, path, files, send } = await start();
    const [live, deleted] = [await send(), await send()];
    const [, second = ''] = await keysIn(files);
    await api.call('DELETE', `${path}/${deleted}`, { token });
    await files.store(`${websiteId}/orphan`, content('x'), 10);
    await files.store('01somebodyelses/file', content('x'), 10);
    await mkdir(join(api.folder, 'files', '.drafts'), { recursive: true });
    await writeFile(join(api.folder, 'files', '.drafts', 'half'), 'half');
    const worker = createFileWorker({ ...partsOf(api.engine), files });
    await worker.start();
    const sweep = async (days: number): Promise<void> => {
      clock.shift(days * dayMs);
      await sweepOf(api, files).run(clock.now(), never);
    };

    await sweep(0);
    expect(await keysIn(files)).toHaveLength(4);
    // Of an upload that may be under way.
    expect(await namesIn(api)).toContain('half');
    await sweep(8);
    expect(await keysIn(files)).not.toContain(`${websiteId}/orphan`);
    expect(await keysIn(files)).toHaveLength(3);
    expect(await namesIn(api)).not.toContain('half');
    const restored = await api.call('POST', `${path}/${deleted}/undo`, { token });
    expect(restored.status).toBe(200);
    await api.call('DELETE', `${path}/${deleted}`, { token });
    await sweep(29);
    expect(await keysIn(files)).toHaveLength(3);
    await sweep(2);
    await eventually('the file is gone', async () => ((await keysIn(files)).length === 2 ? true : undefined));
    expect(await keysIn(files)).toContain('01somebodyelses/file');
    expect(await keysIn(files)).not.toContain(second);
    const tooLate = await api.call('POST', `${path}/${deleted}/undo`, { token });
    expect([tooLate.status, (tooLate.body as { error: string }).error]).toEqual([
      400,
      `Document ${deleted} was deleted more than 30 days ago`,
    ]);
    expect((await api.call('GET', `${path}/${live}`, { token })).status).toBe(200);
    await worker.stop();
  });

  test('are looked for by one process, and by another when that one fails', async () => {
    const { api, files, clock } = await start();
    const dueAt = clock.now();
    let asked = 0;
    const away: FileStore = {
      ...files,
      removeDrafts: () => {
        asked += 1;
        return Promise.reject(new Error('away'));
      },
    };
    await expect(sweepOf(api, away).run(dueAt, never)).rejects.toThrow('away');
    await expect(sweepOf(api, away).run(dueAt, never)).rejects.toThrow('away');
    await sweepOf(api, files).run(dueAt, never);
    await sweepOf(api, away).run(dueAt, never);
    expect(asked).toBe(2);
  });

  test('are looked for by another process when the one that does dies', async () => {
    const { api, files, clock } = await start();
    const dueAt = clock.now();
    const begun = new Promise<void>((resolve) => {
      const dying: FileStore = {
        ...files,
        removeDrafts: () => {
          resolve();
          return new Promise(() => undefined);
        },
      };
      void sweepOf(api, dying).run(dueAt, never);
    });
    await begun;
    let asked = 0;
    const counted: FileStore = {
      ...files,
      removeDrafts: (before) => {
        asked += 1;
        return files.removeDrafts(before);
      },
    };
    const other = sweepOf(api, counted).run(dueAt, never);
    clock.shift(15 * 60_000);
    await other;
    await sweepOf(api, counted).run(dueAt, never);
    expect(asked).toBe(1);
  });
});

test('a website that is deleted for good takes its files along', async () => {
  const { api, token, websiteId, path, files, send, clock } = await start();
  await send();
  await api.call('DELETE', `${path}/${await send()}`, { token });
  await files.store(`${websiteId}/orphan`, content('x'), 10);
  await files.store('01another/file', content('x'), 10);
  await api.call('POST', `/websites/${websiteId}/archive`, { token });
  const scheduled = await api.call('DELETE', `/websites/${websiteId}?confirm=bakery`, { token });
  const { purgeAt } = scheduled.body as { purgeAt: string };
  clock.shift(31 * dayMs);
  const worker = createFileWorker({ ...partsOf(api.engine), files });
  await worker.start();
  await api.engine.handle(
    websiteDecider,
    { type: 'DeleteWebsite', websiteId, purgeAt },
    {
      commandId: api.engine.ids.commandId(),
      actor: { subject: 'x', role: 'system', via: 'worker' },
      requestId: 'r',
    },
  );
  await eventually('its files are gone', async () => ((await keysIn(files)).length === 1 ? true : undefined));
  expect(await keysIn(files)).toEqual(['01another/file']);
  await worker.stop();
});

describe('the storage limit', () => {
  const reached = (websiteId: string) => ({ status: 400, body: { error: `Storage limit of website ${websiteId} reached` } });

  test('counts documents that are there, and refuses what goes beyond it before it is sent', async () => {
    const { api, token, websiteId, path, send } = await start({ environment: { STORAGE_LIMIT: '10KB' } });
    const first = await send('x'.repeat(6_000));
    expect(await upload(api, path, { token, content: 'x'.repeat(5_000) })).toMatchObject(reached(websiteId));
    await send('x'.repeat(4_000));
    await api.call('DELETE', `${path}/${first}`, { token });
    const second = await send('x'.repeat(6_000));
    expect(await api.call('POST', `${path}/${first}/undo`, { token })).toMatchObject(reached(websiteId));
    await api.call('DELETE', `${path}/${second}`, { token });
    expect((await api.call('POST', `${path}/${first}/undo`, { token })).status).toBe(200);
    // The announced length alone is enough.
    const sending = begin(api, path, token, 5_000_000);
    const [answer] = (await once(sending, 'response')) as [{ statusCode: number }];
    expect(answer.statusCode).toBe(400);
    sending.destroy();
    expect(await namesIn(api)).toHaveLength(3);
  });

  test('counts what is deleted beyond as much again, until it is purged', async () => {
    const { api, token, websiteId, path, send } = await start({ environment: { STORAGE_LIMIT: '10KB' } });
    const remove = async (id: string): Promise<void> => {
      expect((await api.call('DELETE', `${path}/${id}`, { token })).status).toBe(204);
    };
    for (const size of [8_000, 8_000]) await remove(await send('x'.repeat(size)));
    const kept = await send('x'.repeat(3_000));
    expect(await upload(api, path, { token, content: 'x'.repeat(2_000) })).toMatchObject(reached(websiteId));
    await remove(kept);
    expect((await api.call('POST', `${path}/${kept}/undo`, { token })).status).toBe(200);
  });

  test('holds for uploads at the same time', async () => {
    const { api, token, path } = await start({ environment: { STORAGE_LIMIT: '10KB' } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(api, path, { token, content: 'x'.repeat(4_000) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400, 400, 400]);
    expect(await namesIn(api)).toHaveLength(2);
  });
});

const formHead = `--b\r\ncontent-disposition: form-data; name="file"; filename="x.txt"\r\n\r\n`;

/** Sends the beginning of a form; the caller goes on. */
const begin = (api: RunningApi, path: string, token: string, length?: number): ClientRequest => {
  const sending = request(`${api.url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'multipart/form-data; boundary=b',
      ...(length !== undefined && { 'content-length': length }),
    },
  });
  sending.on('error', () => undefined);
  sending.write(formHead);
  sending.write('x'.repeat(200_000));
  return sending;
};

const draftIsThere = (api: RunningApi): Promise<true> =>
  eventually('a draft is being written', async () => {
    const drafts = await readdir(join(api.folder, 'files', '.drafts')).catch(() => []);
    return drafts.length > 0 ? true : undefined;
  });

describe('an upload', () => {
  test('whose sender goes away leaves nothing', async () => {
    const { api, path, token } = await start();
    const sending = begin(api, path, token);
    await draftIsThere(api);
    sending.destroy();
    await eventually('nothing is left', async () => ((await namesIn(api)).length === 0 ? true : undefined));
    expect((await api.call('GET', path, { token })).body).toEqual([]);
  });

  test('whose sender lost access in the middle of it is refused, and leaves nothing', async () => {
    const { api, path, token } = await start();
    const key = (await api.call('POST', '/api-keys', { token, body: { name: 'x' } })).body as { id: string; token: string };
    const sending = begin(api, path, key.token);
    await draftIsThere(api);
    await api.call('DELETE', `/api-keys/${key.id}`, { token });
    sending.end('\r\n--b--\r\n');
    const [answer] = (await once(sending, 'response')) as [{ statusCode: number; resume: () => void }];
    answer.resume();
    expect(answer.statusCode).toBe(401);
    await eventually('nothing is left', async () => ((await namesIn(api)).length === 0 ? true : undefined));
    expect((await api.call('GET', path, { token })).body).toEqual([]);
  });

  test('of nobody is refused before its body', async () => {
    const { api, path } = await start();
    const sending = begin(api, path, 'svc_pat_nobody', 50_000_000);
    const [answer] = (await once(sending, 'response')) as [{ statusCode: number; resume: () => void }];
    answer.resume();
    expect(answer.statusCode).toBe(401);
    sending.destroy();
    expect(await readdir(api.folder)).not.toContain('files');
  });

  test('that is announced too large is refused before its body', async () => {
    const { api, path, token } = await start();
    const sending = begin(api, path, token, 200 * 1024 * 1024);
    const [answer] = (await once(sending, 'response')) as [{ statusCode: number; resume: () => void }];
    answer.resume();
    expect(answer.statusCode).toBe(413);
    sending.destroy();
  });

  test('may take longer than other bodies', async () => {
    const timeouts = { headersMs: 10_000, requestMs: 200, checkMs: 50, standstillMs: 120_000 };
    const { api, path, token } = await start({ timeouts });
    const sending = begin(api, path, token);
    await draftIsThere(api);
    const slow = api.call('GET', '/healthz');
    const other = request(`${api.url}/v1/websites`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-length': 100 },
    });
    other.on('error', () => undefined);
    other.flushHeaders();
    // By then a body that is no upload is given up.
    const [refused] = (await once(other, 'response')) as [{ statusCode: number; resume: () => void }];
    refused.resume();
    expect([(await slow).status, refused.statusCode]).toEqual([200, 408]);
    sending.end('\r\n--b--\r\n');
    const [answer] = (await once(sending, 'response')) as [{ statusCode: number; resume: () => void }];
    answer.resume();
    expect(answer.statusCode).toBe(201);
  });
});

test('an address of a file is good for 5 minutes', async () => {
  const { api, clock, token, path, send } = await start();
  const { body } = await api.call('GET', `${path}/${await send()}/url`, { token });
  const status = async (): Promise<number> => (await fetch((body as { url: string }).url, { method: 'HEAD' })).status;
  clock.shift(280_000);
  expect(await status()).toBe(200);
  clock.shift(20_000);
  expect(await status()).toBe(403);
});

test('a file that was lost is not found, and the log names it', async () => {
  const { api, token, path, files, websiteId, send } = await start();
  const id = await send();
  const { body } = await api.call('GET', `${path}/${id}/url`, { token });
  const [file = ''] = await keysIn(files);
  await files.remove(file);
  expect((await fetch((body as { url: string }).url)).status).toBe(404);
  const msg = 'a file is missing where documents and media are kept';
  expect(api.log).toContainEqual(expect.objectContaining({ msg, websiteId, file }));
});

whereMinioIs(() => {
  test('documents stand in S3: uploaded, handed out by addresses of it, deleted, purged', async () => {
    const bucket = await minioBucket();
    const environment: Environment = {
      S3_BUCKET: bucket.bucket,
      S3_ENDPOINT: bucket.endpoint,
      AWS_ACCESS_KEY_ID: bucket.credentials?.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.credentials?.secretAccessKey,
    };
    const { api, token, path, send, clock } = await start({ environment });
    const files = createS3Files(bucket);
    const [one, other] = [await send(pdf), await send(Buffer.alloc(9 * 1024 * 1024, 'x'))];
    expect(await readdir(api.folder)).not.toContain('files');
    expect(await keysIn(files)).toHaveLength(2);

    const answer = await api.call('GET', `${path}/${one}/url?disposition=inline`, { token });
    const { url, expiresAt } = answer.body as { url: string; expiresAt: string };
    expect(url.startsWith(`${bucket.endpoint ?? ''}/`)).toBe(true);
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('300');
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(300_000);
    const shown = await fetch(url);
    expect([shown.status, await shown.text()]).toEqual([200, pdf]);
    expect(shown.headers.get('content-type')).toBe('application/pdf');
    expect(shown.headers.get('content-disposition')).toMatch(/^inline; filename="plan.pdf"/);

    const refused = await upload(api, path, { token, content: '' });
    expect(refused.status).toBe(400);
    expect(await keysIn(files)).toHaveLength(2);

    await api.call('DELETE', `${path}/${other}`, { token });
    const worker = createFileWorker({ ...partsOf(api.engine), files });
    await worker.start();
    clock.shift(31 * dayMs);
    await sweepOf(api, files).run(clock.now(), never);
    await eventually('its file is gone', async () => ((await keysIn(files)).length === 1 ? true : undefined));
    await worker.stop();
  });

  test('an S3 that is away is a fault of the provider, and nothing is recorded', async () => {
    const environment = {
      S3_BUCKET: 'nowhere',
      S3_ENDPOINT: 'http://127.0.0.1:9',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'y',
    };
    const { api, token, path } = await start({ environment });
    expect(await upload(api, path, { token, content: pdf })).toMatchObject({
      status: 503,
      body: { code: 'provider_unavailable' },
    });
    expect((await api.call('GET', path, { token })).body).toEqual([]);
  });
});
