import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { load } from 'cheerio';
import sharp from 'sharp';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createFindSiteMedia } from '../../src/workers/media/siteMedia.js';
import { createPublicationWorker } from '../../src/workers/publication/publicationWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { photograph } from '../support/mediaFiles.js';
import { deployingOn } from '../support/process.js';
import { upload } from '../support/upload.js';

// Pictures, builds and browsers take a while on a busy machine.
jest.setTimeout(90_000);

/** An image on its way from an upload to the page of a website. */

const workers: Worker[] = [];
let api: RunningApi;
let token: string;
let path: string;
let mediaId: string;

const call = (method: string, more: string, body?: unknown): Promise<ApiAnswer> =>
  api.call(method, `${path}${more}`, { token, ...(body !== undefined && { body }) });

beforeAll(async () => {
  let used: RouteParts | undefined;
  api = await startApi({
    sites: true,
    routes: (parts) => {
      used = parts;
      return createRoutes(parts);
    },
  });
  if (used === undefined) throw new Error('there are no routes');
  const parts = { ...used, ...deployingOn(api.engine, used) };
  workers.push(
    createProvisioningWorker({ ...parts, visit: () => Promise.resolve(200) }),
    createPublicationWorker({ ...parts, findMedia: createFindSiteMedia(parts.reader, parts.files) }),
  );
  for (const worker of workers) await worker.start();
  token = await api.mintToken();
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } });
  path = `/websites/${(body as { id: string }).id}`;
  await eventually(
    'an active website',
    async () => ((await call('GET', '')).body as { status: string }).status === 'active' || undefined,
    30_000,
  );
  const sent = await upload(api, `${path}/media`, {
    token,
    name: 'shop.jpg',
    content: await photograph(1_800, 1_200),
    fields: { alt: 'The shop & its "red" door' },
  });
  expect([sent.status, sent.text]).toEqual([201, expect.anything()]);
  mediaId = (sent.body as { id: string }).id;
});

afterAll(async () => {
  for (const worker of workers) await worker.stop();
});

const publishWith = async (picture: object): Promise<void> => {
  const { hash, body } = (await call('GET', '/content/company')).body as { hash: string; body: object };
  const saved = await call('PUT', '/content/company', { baseHash: hash, body: { ...body, picture } });
  expect([saved.status, saved.text]).toEqual([200, expect.anything()]);
  expect((await call('POST', '/content/publish')).status).toBe(202);
};

const home = (): string => `${api.url}/sites/bakery/`;
const shownOn = async () => {
  const $ = load(await (await fetch(home())).text());
  return $('img.photo');
};

test('an image of the content is on the page, with its size, its description and its variants', async () => {
  await publishWith({ mediaId });
  const image = await eventually('the picture on the page', async () => {
    const found = await shownOn();
    return found.length === 1 ? found : undefined;
  });
  expect([image.attr('alt'), image.attr('width'), image.attr('height')]).toEqual(['The shop & its "red" door', '1200', '1800']);
  const forms = (image.attr('srcset') ?? '').split(', ').map((form) => form.split(' '));
  expect(forms.map(([, width]) => width)).toEqual(['480w', '960w', '1200w']);
  const addresses = [image.attr('src') ?? '', ...forms.map(([address = '']) => address)];
  for (const [index, address] of addresses.entries()) {
    const answer = await fetch(new URL(address, home()));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, index === 0 ? 'image/jpeg' : 'image/webp']);
    const content = Buffer.from(await answer.arrayBuffer());
    // The repository is public to members, and the website to everybody: neither tells the place.
    expect((await sharp(content).metadata()).exif).toBeUndefined();
    expect(content.includes('CanaryCamera')).toBe(false);
  }
});

const withBrowser = hasChromium ? test : test.skip;

withBrowser('and moves nothing when it comes', async () => {
  const chromium = await startChromium();
  try {
    const page = await chromium.newPage({ viewport: { width: 360, height: 740 } });
    const pending: (() => void)[] = [];
    let isOpen = false;
    await page.route(/\/media\//, async (route) => {
      if (!isOpen) await new Promise<void>((resolve) => pending.push(resolve));
      await route.continue();
    });
    await page.goto(home(), { waitUntil: 'domcontentloaded' });
    const image = page.locator('img.photo');
    await eventually('the style of the page', async () =>
      (await page.evaluate<boolean>(
        '[...document.querySelectorAll("link[rel=stylesheet]")].every(({ sheet }) => sheet !== null)',
      ))
        ? true
        : undefined,
    );
    const before = await image.boundingBox();
    isOpen = true;
    for (const proceed of pending) proceed();
    await eventually('the picture itself', async () =>
      (await page.evaluate<number>('document.querySelector("img.photo").naturalWidth')) > 0 ? true : undefined,
    );
    expect(await image.boundingBox()).toEqual(before);
    expect(await page.evaluate<string>('document.querySelector("img.photo").currentSrc')).toMatch(/\.webp$/);
  } finally {
    await chromium.close();
  }
});

test('the content may describe it otherwise where it stands', async () => {
  await publishWith({ mediaId, alt: 'Our door' });
  await eventually('the other description', async () => ((await shownOn()).attr('alt') === 'Our door' ? true : undefined));
});

test('one without a description is shown as decoration', async () => {
  const silent = await upload(api, `${path}/media`, { token, name: 'wall.jpg', content: await photograph(600, 400), fields: {} });
  await publishWith({ mediaId: (silent.body as { id: string }).id });
  await eventually('the decoration', async () => ((await shownOn()).attr('alt') === '' ? true : undefined));
});

test('one that is deleted leaves the site when the content is published, and comes back when it is restored', async () => {
  const sent = await upload(api, `${path}/media`, { token, name: 'oven.jpg', content: await photograph(600, 400), fields: {} });
  const { id } = sent.body as { id: string };
  await publishWith({ mediaId: id });
  const address = await eventually('the picture on the page', async () => {
    const source = (await shownOn()).attr('src') ?? '';
    return source.includes(id) ? new URL(source, home()) : undefined;
  });
  expect((await fetch(address)).status).toBe(200);

  expect((await call('DELETE', `/media/${id}`)).status).toBe(204);
  expect((await call('POST', '/content/publish')).status).toBe(202);
  await eventually('its end', async () => ((await fetch(address)).status === 404 ? true : undefined));
  expect((await shownOn()).length).toBe(0);
  // Those that no document names any more have gone with the documents that named them.
  const { body: deployment } = await call('POST', '/content/publish');
  expect(await call('POST', '/content/publish')).toMatchObject({ status: 202, body: deployment });

  expect((await call('POST', `/media/${id}/undo`)).status).toBe(200);
  expect((await call('POST', '/content/publish')).status).toBe(202);
  await eventually('its return', async () => ((await fetch(address)).status === 200 ? true : undefined));
  expect((await shownOn()).attr('src')).toContain(id);
});

test('one that is deleted keeps no document from being saved that names it already', async () => {
  const sent = await upload(api, `${path}/media`, { token, name: 'oven.jpg', content: await photograph(600, 400), fields: {} });
  const { id } = sent.body as { id: string };
  const save = (documentId: string, baseHash: string | null, body: object) =>
    call('PUT', `/content/${documentId}`, { baseHash, body });
  const hashOf = ({ status, body }: ApiAnswer): string => {
    expect(status).toBe(200);
    return (body as { hash: string }).hash;
  };
  const named = hashOf(await save('oven', null, { picture: { mediaId: id }, text: 'Our oven' }));
  expect((await call('DELETE', `/media/${id}`)).status).toBe(204);
  const changed = hashOf(await save('oven', named, { picture: { mediaId: id }, text: 'The oven' }));
  const without = hashOf(await save('oven', changed, { text: 'The oven' }));
  const gone = { status: 400, body: { error: expect.stringContaining('is no picture or video of this website') } };
  expect(await save('oven', without, { picture: { mediaId: id } })).toMatchObject(gone);
  expect(await save('stove', null, { picture: { mediaId: id } })).toMatchObject(gone);
  expect((await call('POST', '/content/oven/restore', { hash: named, baseHash: without })).status).toBe(200);
  expect((await call('POST', '/content/publish')).status).toBe(202);
});

test('one that takes the place of another takes its files from the site', async () => {
  const [first, second] = await Promise.all(
    ['one.jpg', 'two.jpg'].map(async (name) => {
      const sent = await upload(api, `${path}/media`, { token, name, content: await photograph(600, 400), fields: {} });
      return (sent.body as { id: string }).id;
    }),
  );
  const addressOf = (id = ''): Promise<URL> =>
    eventually('the picture on the page', async () => {
      const source = (await shownOn()).attr('src') ?? '';
      return source.includes(id) ? new URL(source, home()) : undefined;
    });
  await publishWith({ mediaId: first });
  const former = await addressOf(first);
  await publishWith({ mediaId: second });
  expect((await fetch(await addressOf(second))).status).toBe(200);
  expect((await fetch(former)).status).toBe(404);
});
