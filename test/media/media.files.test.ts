import { join } from 'node:path';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import type { FileStore } from '../../src/integrations/files/port.js';
import { systemRandom } from '../../src/platform/random.js';
import { fileSweep } from '../../src/workers/files/fileSweep.js';
import { createFileWorker } from '../../src/workers/files/fileWorker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { picture } from '../support/mediaFiles.js';
import { partsOf } from '../support/process.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { upload } from '../support/upload.js';

// Pictures take a while on a busy machine.
jest.setTimeout(60_000);

const dayMs = 86_400_000;
const never = new AbortController().signal;

let api: RunningApi;
let clock: ReturnType<typeof createShiftedClock>;
let token: string;
let websiteId: string;
let path: string;
let files: FileStore;

const start = async (environment: Record<string, string> = {}): Promise<void> => {
  clock = createShiftedClock();
  api = await startApi({ clock, environment });
  token = await api.mintToken();
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } });
  websiteId = (body as { id: string }).id;
  path = `/websites/${websiteId}/media`;
  files = createEmbeddedFiles({ folder: join(api.folder, 'files'), random: systemRandom });
};

const send = async () =>
  upload(api, path, { token, name: 'x.png', content: await picture(64, 48).png().toBuffer(), fields: { alt: 'x' } });
const sent = async (): Promise<string> => {
  const answer = await send();
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return (answer.body as { id: string }).id;
};

const keys = async (): Promise<string[]> => {
  const found: string[] = [];
  for await (const { key } of files.list('')) found.push(key);
  return found.sort();
};

const sweep = async (days: number): Promise<void> => {
  clock.shift(days * dayMs);
  await fileSweep({ engine: api.engine, reader: api.engine, files, records: api.engine.records }).run(clock.now(), never);
};

beforeEach(() => start());

test('files of images and their variants stay; those of deleted ones go after 30 days', async () => {
  const live = await sent();
  const ofLive = await keys();
  expect(ofLive).toHaveLength(3);
  const deleted = await sent();
  const worker = createFileWorker({ ...partsOf(api.engine), files });
  await worker.start();
  await api.call('DELETE', `${path}/${deleted}`, { token });
  await sweep(29);
  expect(await keys()).toHaveLength(6);
  await sweep(2);
  await eventually('the files are gone', async () => ((await keys()).length === 3 ? true : undefined));
  expect(await keys()).toEqual(ofLive);
  const tooLate = await api.call('POST', `${path}/${deleted}/undo`, { token });
  expect(tooLate.body).toMatchObject({ error: `Image or video ${deleted} was deleted more than 30 days ago` });
  expect((await api.call('GET', `${path}/${live}`, { token })).status).toBe(200);
  await worker.stop();
});

test('files of an image stay that was recorded, whatever went wrong after that', async () => {
  const { eventStore } = api.engine;
  const append = eventStore.append.bind(eventStore);
  const broken = jest.spyOn(eventStore, 'append').mockImplementationOnce(async (...events) => {
    await append(...events);
    throw new Error('broken');
  });
  expect((await send()).status).toBe(500);
  expect(broken.mock.calls.map(([, events]) => events.map(({ type }) => type))).toEqual([['MediaUploaded']]);
  broken.mockRestore();
  expect(await keys()).toHaveLength(3);
});

test('a website that is deleted for good takes its images along', async () => {
  await sent();
  await api.call('DELETE', `${path}/${await sent()}`, { token });
  await api.call('POST', `/websites/${websiteId}/archive`, { token });
  const scheduled = await api.call('DELETE', `/websites/${websiteId}?confirm=bakery`, { token });
  const { purgeAt } = scheduled.body as { purgeAt: string };
  clock.shift(31 * dayMs);
  const worker = createFileWorker({ ...partsOf(api.engine), files });
  await worker.start();
  await api.engine.handle(
    websiteDecider,
    { type: 'DeleteWebsite', websiteId, purgeAt },
    { commandId: api.engine.ids.commandId(), actor: { subject: 'x', role: 'system', via: 'worker' }, requestId: 'r' },
  );
  await eventually('its files are gone', async () => ((await keys()).length === 0 ? true : undefined));
  await worker.stop();
});

test('the limit counts variants; beyond it nothing is left', async () => {
  await sent();
  const { body } = await api.call('GET', path, { token });
  const [{ size, variants }] = body as [{ size: number; variants: { size: number }[] }];
  const whole = variants.reduce((sum, variant) => sum + variant.size, size);
  expect(whole).toBeGreaterThan(size);
  await start({ STORAGE_LIMIT: String(whole + size) });
  await sent();
  const before = await keys();
  const beyond = await send();
  expect([beyond.status, (beyond.body as { error: string }).error]).toEqual([
    400,
    `Storage limit of website ${websiteId} reached`,
  ]);
  expect(await keys()).toEqual(before);
});
