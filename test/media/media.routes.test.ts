import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import sharp from 'sharp';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import type { ApiAnswer, CallOptions } from '../support/http.js';
import { photograph, picture, video } from '../support/mediaFiles.js';
import { pdf, upload, type SentForm } from '../support/upload.js';

// Pictures take a while on a busy machine.
jest.setTimeout(60_000);

interface Media {
  readonly id: string;
  readonly name: string;
  readonly alt?: string;
  readonly variants: readonly { readonly contentType: string; readonly width: number }[];
}

let everybody: Everybody;
let path: string;
let jpeg: Buffer;

beforeAll(async () => {
  everybody = await startEverybody();
  path = `/websites/${everybody.websiteId}/media`;
  jpeg = await picture(600, 400).jpeg().toBuffer();
});

const tokenOf = (person: Person): string => everybody.credentials[person].token;
const send = (form: Partial<SentForm> = {}, at = path, person: Person = 'editor'): Promise<ApiAnswer> =>
  upload(everybody.api, at, {
    name: 'shop.jpg',
    content: jpeg,
    fields: { alt: 'The shop' },
    token: tokenOf(person),
    ...form,
  });
const sent = async (form: Partial<SentForm> = {}, at = path): Promise<Media> => {
  const answer = await send(form, at);
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return answer.body as Media;
};
const call = (method: string, at: string, options: CallOptions & { as?: Person } = {}): Promise<ApiAnswer> =>
  everybody.api.call(method, at, { token: tokenOf(options.as ?? 'editor'), ...options });
const error = ({ status, body }: ApiAnswer): unknown => [status, (body as { error: unknown }).error];

const filesStored = async (): Promise<string[]> => {
  const entries = await readdir(join(everybody.api.folder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

const addressOf = async (id: string, disposition?: string): Promise<string> => {
  const answer = await call('GET', `${path}/${id}/url${disposition === undefined ? '' : `?disposition=${disposition}`}`);
  expect(answer.status).toBe(200);
  return (answer.body as { url: string }).url;
};

describe('uploading', () => {
  test('an image answers with its size, its description and its variants', async () => {
    const answer = await send({ name: 'Our shop.jpg', content: await photograph(1_000, 500) });
    expect(answer.status).toBe(201);
    const { id } = answer.body as Media;
    const variant = (contentType: string, width: number, height: number) => ({
      contentType,
      width,
      height,
      size: expect.any(Number),
    });
    expect(answer.body).toEqual({
      id,
      websiteId: everybody.websiteId,
      kind: 'image',
      name: 'Our shop.jpg',
      contentType: 'image/jpeg',
      size: expect.any(Number),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      alt: 'The shop',
      width: 500,
      height: 1_000,
      variants: [variant('image/webp', 480, 960), variant('image/webp', 500, 1_000), variant('image/jpeg', 500, 1_000)],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`/v1${path}/${id}`);
    expect((await call('GET', `${path}/${id}`, { as: 'viewer' })).body).toEqual(answer.body);
  });

  test('a file takes the name that comes with it', async () => {
    const { name } = await sent({ fields: { name: ' folder/The shop.jpg ', alt: 'The shop' } });
    expect(name).toBe('The shop.jpg');
    expect(error(await send({ fields: { name: '///', alt: 'The shop' } }))).toEqual([
      400,
      'Invalid request body — name: must be the name of a file',
    ]);
  });

  test('an image needs no description, and can be given one later', async () => {
    const answer = await send({ fields: {} });
    expect(answer.status).toBe(201);
    expect(answer.body).not.toHaveProperty('alt');
    const { id } = answer.body as Media;
    expect((await call('PATCH', `${path}/${id}`, { body: { alt: 'The shop' } })).body).toMatchObject({ id, alt: 'The shop' });
  });

  test('a video answers with its size and length, and needs no description', async () => {
    const { body } = await send({ name: 'tour.mp4', content: await video('mp4', 640, 360), fields: {} });
    expect(body).toMatchObject({
      kind: 'video',
      contentType: 'video/mp4',
      width: 640,
      height: 360,
      durationMs: 500,
      variants: [],
    });
    expect(body).not.toHaveProperty('alt');
  });

  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  test.each<[string, () => Partial<SentForm>, RegExp]>([
    ['an image with a blank one', () => ({ fields: { alt: '  ' } }), /^Invalid request body — alt: /],
    ['an image with a very long one', () => ({ fields: { alt: 'x'.repeat(301) } }), /^Invalid request body — alt: /],
    ['a PDF', () => ({ content: pdf }), /— file: must be an image \(JPEG.*application\/pdf$/],
    ['an SVG', () => ({ content: svg, name: 'x.png', type: 'image/png' }), /— file: must be an image .*image\/svg\+xml$/],
    ['text', () => ({ content: 'hello' }), /— file: must be an image /],
    ['an image that is cut off', () => ({ content: jpeg.subarray(0, 2_000) }), /— file: must be a picture that can be read/],
    ['an unknown field', () => ({ fields: { alt: 'x', title: 'x' } }), /title/],
  ])('%s is refused, and leaves no file', async (_what, form, words) => {
    const before = await filesStored();
    const answer = await send(form());
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([400, expect.stringMatching(words)]);
    expect(await filesStored()).toEqual(before);
  });

  test('a dry run says what would be written, and stores nothing', async () => {
    const before = await filesStored();
    const { status, body } = await send({}, `${path}?dryRun=1`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ events: [{ type: 'MediaUploaded', data: { kind: 'image', alt: 'The shop', variants: [] } }] });
    expect(await filesStored()).toEqual(before);
  });

  test('an Idempotency-Key makes one image of two requests', async () => {
    const headers = { 'idempotency-key': 'an image' };
    const first = await send({ headers });
    const before = await filesStored();
    const again = await send({ headers });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    expect(await filesStored()).toEqual(before);
    const { body } = await send({ headers, fields: { alt: 'Something else' } });
    expect(body).toMatchObject({ error: 'Idempotency-Key was used with a different request' });
  });

  test('is for editors and up; everybody of the website reads', async () => {
    expect(error(await send({}, path, 'viewer'))).toEqual([401, 'Editor role required']);
    for (const person of ['admin', 'owner', 'editor'] as const) expect((await send({}, path, person)).status).toBe(201);
    expect((await call('GET', path, { as: 'viewer' })).status).toBe(200);
  });
});

describe('an image', () => {
  test('is listed, by kind, by name, by its id, and counted', async () => {
    const created = await everybody.api.call('POST', '/websites', {
      token: tokenOf('admin'),
      body: { name: 'Gallery', slug: 'gallery' },
    });
    const own = `/websites/${(created.body as { id: string }).id}/media`;
    const token = tokenOf('admin');
    const [b, film, a] = [
      await sent({ name: 'b.jpg', token }, own),
      await sent({ name: 'film.mp4', content: await video('mp4', 64, 48), token }, own),
      await sent({ name: 'a.jpg', token }, own),
    ];
    const ids = async (query: string): Promise<unknown> =>
      ((await call('GET', `${own}${query}`, { as: 'admin' })).body as Media[]).map(({ id }) => id);
    expect(await ids('')).toEqual([a.id, film.id, b.id]);
    expect(await ids('?kind=image')).toEqual([a.id, b.id]);
    expect(await ids('?sort=name')).toEqual([a.id, b.id, film.id]);
    expect(await ids(`?ids=${b.id},nothing`)).toEqual([b.id]);
    const page = await call('GET', `${own}?limit=2&count=true&kind=image`, { as: 'admin' });
    expect(page.headers.get('total-count')).toBe('2');
    const first = await call('GET', `${own}?limit=2`, { as: 'admin' });
    const [, cursor] = /cursor=([\w-]+)/.exec(first.headers.get('link') ?? '') ?? [];
    expect(await ids(`?limit=2&cursor=${cursor ?? ''}`)).toEqual([b.id]);
  });

  test('is described anew, and left without a description', async () => {
    const { id } = await sent();
    const { status, body, headers } = await call('PATCH', `${path}/${id}`, { body: { alt: ' The red door ' } });
    expect([status, (body as Media).alt]).toEqual([200, 'The red door']);
    const stale = { 'if-match': '"0"' };
    expect(error(await call('PATCH', `${path}/${id}`, { body: { alt: 'x' }, headers: stale }))).toEqual([
      400,
      'Someone else saved while you were editing',
    ]);
    const known = await call('GET', `${path}/${id}`, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect(known.status).toBe(304);
    const silent = await call('PATCH', `${path}/${id}`, { body: { alt: null } });
    expect(silent.status).toBe(200);
    expect(silent.body).not.toHaveProperty('alt');
  });

  test('is deleted, and restored', async () => {
    const { id } = await sent();
    const url = await addressOf(id);
    expect((await fetch(url)).status).toBe(200);
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect(error(await call('DELETE', `${path}/${id}`))).toEqual([404, `Image or video ${id} not found`]);
    expect(error(await call('GET', `${path}/${id}`))).toEqual([404, `Image or video ${id} not found`]);
    expect((await fetch(url)).status).toBe(404);
    expect((await call('POST', `${path}/${id}/undo`)).body).toMatchObject({ id, alt: 'The shop' });
    expect((await call('GET', `${path}/${id}`)).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
  });

  test('that is not there is not found, whatever If-Match says', async () => {
    const { id } = await sent();
    const tag = (await call('GET', `${path}/${id}`)).headers.get('etag') ?? '';
    expect((await call('DELETE', `${path}/${id}`, { headers: { 'if-match': tag } })).status).toBe(204);
    for (const [gone, ifMatch] of [
      [id, tag],
      ['nope', '"5-x"'],
    ] as const) {
      const headers = { 'if-match': ifMatch };
      const missing = [404, `Image or video ${gone} not found`];
      expect(error(await call('DELETE', `${path}/${gone}`, { headers }))).toEqual(missing);
      expect(error(await call('PATCH', `${path}/${gone}`, { body: { alt: 'x' }, headers }))).toEqual(missing);
    }
  });

  test('of another website is not found', async () => {
    const { id } = await sent();
    const created = await everybody.api.call('POST', '/websites', {
      token: tokenOf('admin'),
      body: { name: 'Other', slug: 'other-media' },
    });
    const elsewhere = `/websites/${(created.body as { id: string }).id}/media/${id}`;
    for (const [method, at, body] of [
      ['GET', elsewhere],
      ['PATCH', elsewhere, { alt: 'x' }],
      ['DELETE', elsewhere],
      ['POST', `${elsewhere}/undo`],
      ['GET', `${elsewhere}/url`],
    ] as const) {
      expect((await call(method, at, { as: 'admin', ...(body !== undefined && { body }) })).status).toBe(404);
    }
  });

  test('is handed out as it was uploaded, to be shown or saved; a video is saved alone', async () => {
    const { id } = await sent();
    const shown = await fetch(await addressOf(id, 'inline'));
    expect(shown.headers.get('content-disposition')).toMatch(/^inline; filename="shop\.jpg"/);
    expect(shown.headers.get('content-type')).toBe('image/jpeg');
    expect(Buffer.from(await shown.arrayBuffer()).equals(jpeg)).toBe(true);
    const film = await sent({ name: 'tour.webm', content: await video('webm', 64, 48) });
    expect(error(await call('GET', `${path}/${film.id}/url?disposition=inline`))).toEqual([
      400,
      'Invalid query — disposition: only images can be shown; use attachment',
    ]);
    const part = await fetch(await addressOf(film.id), { headers: { range: 'bytes=0-3' } });
    expect([part.status, part.headers.get('content-disposition')]).toEqual([206, expect.stringMatching(/^attachment/)]);
  });
});

test('what variants hold is a picture and nothing else', async () => {
  const before = new Set(await filesStored());
  await sent({ content: await photograph(1_200, 900) });
  const made = (await filesStored()).filter((file) => !before.has(file));
  const kept = await Promise.all(made.map(async (file) => ({ file, metadata: await sharp(file).metadata() })));
  expect(kept).toHaveLength(4);
  for (const { file, metadata } of kept) {
    // Two groups of the key itself may look like a width and a name.
    const isVariant = /[0-9a-f]{12}-\d+-\w+$/.test(file);
    expect([file, metadata.exif !== undefined]).toEqual([file, !isVariant]);
  }
});
