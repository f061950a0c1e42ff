import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import type { PreviewAuthor } from '../../src/integrations/hosting/port.js';
import { isoTime } from '../../src/platform/clock.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { repositoryOf, serveSites } from './hostingSites.js';
import { createShardedFolder } from '../../src/integrations/shardedFolder.js';

const clock = createTestClock();
const folder = temporaryFolder();
const hour = 3_600_000;
let base = '';
let allowed: readonly string[] = ['w1'];
let secrets = 0;

const hosting = createEmbeddedHosting({
  folder,
  publicUrl: () => base,
  builder: siteBuilder,
  clock,
  mayPreview: ({ websiteId }: PreviewAuthor) => Promise.resolve(allowed.includes(websiteId)),
});

beforeAll(async () => {
  base = await serveSites(() => hosting.handlers.belowSites);
  const files = { 'index.html.liquid': '{{ data.words.hello }} at {{ site.url }}', '_data/words.json': '{"hello":"Old"}' };
  await hosting.createProject({ name: 'acme', marker: 'acme', repository: repositoryOf(files) });
  await hosting.deploy('acme', 'first');
});

const newSecret = (): string => String((secrets += 1)).padStart(64, 'a');
const show = async (hello: string, secret = newSecret(), websiteId = 'w1') => {
  const files = new Map([['_data/words.json', Buffer.from(JSON.stringify({ hello }))]]);
  const expiresAt = isoTime(clock.now() + hour);
  const shown = await hosting.previews.show('acme', { secret, files, expiresAt, by: { websiteId } });
  if ('failure' in shown) throw new Error(shown.failure);
  return shown.url;
};
const read = async (url: string): Promise<[number, string]> => {
  const answer = await fetch(url);
  return [answer.status, await answer.text()];
};
const previewsFolder = join(createShardedFolder({ folder }).pathOf('acme'), 'previews');
const foldersLeft = (): number => readdirSync(previewsFolder).filter((name) => name !== '.drafts').length;

test('a preview shows the files of the draft until it ends, and its files are gone afterwards', async () => {
  const url = await show('New');
  expect(await read(url)).toEqual([200, `New at ${url}`]);
  expect(await read(`${base}/sites/acme/`)).toEqual([200, `Old at ${base}/sites/acme/`]);
  await clock.advance(hour - 1);
  expect((await read(url))[0]).toBe(200);
  expect(await hosting.previews.removeEnded()).toBe(0);
  await clock.advance(1);
  expect((await read(url))[0]).toBe(404);
  expect(await hosting.previews.removeEnded()).toBe(1);
  expect(foldersLeft()).toBe(0);
});

test('what has ended is looked for at projects that have previews, and once at all of an earlier version', async () => {
  await show('Mine');
  const notes = join(folder, '.previews');
  expect(await hosting.previews.removeEnded()).toBe(0);
  expect(readdirSync(notes).sort()).toEqual(['.all', 'acme']);
  await clock.advance(hour);
  // Without its note nothing looks there.
  rmSync(join(notes, 'acme'));
  expect(await hosting.previews.removeEnded()).toBe(0);
  rmSync(join(notes, '.all'));
  expect(await hosting.previews.removeEnded()).toBe(1);
  expect(readdirSync(notes)).toEqual(['.all']);
});

test('what a kill has left is removed: of a removal at once, of a build when none can be under way any more', async () => {
  await show('Half removed');
  const [name = ''] = readdirSync(previewsFolder).filter((each) => each !== '.drafts');
  rmSync(join(previewsFolder, name, 'preview.json'));
  const draft = join(previewsFolder, '.drafts', 'b'.repeat(32));
  mkdirSync(join(draft, 'new-1', 'site'), { recursive: true });
  writeFileSync(join(draft, 'new-1', 'site', 'index.html'), 'Half built');
  utimesSync(draft, clock.now() / 1_000, clock.now() / 1_000);
  expect(await hosting.previews.removeEnded()).toBe(1);
  expect(readdirSync(previewsFolder)).toEqual(['.drafts']);
  expect(existsSync(draft)).toBe(true);
  await clock.advance(hour + 1);
  expect(await hosting.previews.removeEnded()).toBe(0);
  expect(existsSync(draft)).toBe(false);
  expect(readdirSync(join(folder, '.previews'))).not.toContain('acme');
});

test('a preview is shown as long as whoever it was made for may see it', async () => {
  const url = await show('Theirs', newSecret(), 'w2');
  expect((await read(url))[0]).toBe(404);
  allowed = ['w1', 'w2'];
  expect((await read(url))[0]).toBe(200);
  allowed = ['w1'];
  expect((await read(url))[0]).toBe(404);
});

test('a repetition with the same secret is the same preview', async () => {
  const secret = newSecret();
  const url = await show('Once', secret);
  expect(await show('Twice', secret)).toBe(url);
  expect((await read(url))[1]).toContain('Once');
});

test('the folder of a preview does not tell its address', async () => {
  const secret = newSecret();
  await show('Secret', secret);
  expect(existsSync(join(previewsFolder, secret))).toBe(false);
  expect(readdirSync(previewsFolder).join(' ')).not.toContain(secret);
});

test('of many previews, the ten newest stay', async () => {
  const urls: string[] = [];
  for (let one = 0; one < 12; one += 1) {
    urls.push(await show(String(one)));
    await clock.advance(1_000);
  }
  expect(foldersLeft()).toBe(10);
  const statuses = await Promise.all(urls.map(async (url) => (await read(url))[0]));
  expect(statuses).toEqual([404, 404, ...Array.from({ length: 10 }, () => 200)]);
});

test('nothing is served at an address that only looks like one', async () => {
  for (const path of ['_previews/', '_previews/..%2f..', `_previews/${'a'.repeat(64)}/`, '_previews/x']) {
    expect((await read(`${base}/sites/acme/${path}`))[0]).toBe(404);
  }
});
