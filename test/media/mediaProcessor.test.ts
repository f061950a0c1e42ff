import { describe, expect, jest, test } from '@jest/globals';
import sharp from 'sharp';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import { createMediaProcessor } from '../../src/integrations/media/processor.js';
import { UnreadableMedia, type MediaFile } from '../../src/integrations/media/port.js';
import { contentTypeOf } from '../../src/platform/fileContentType.js';
import { systemRandom } from '../../src/platform/random.js';
import { animation, photograph, picture, video } from '../support/mediaFiles.js';
import { temporaryFolder } from '../support/temporary.js';

// Pictures take a while on a busy machine.
jest.setTimeout(60_000);

const files = createEmbeddedFiles({ folder: temporaryFolder(), random: systemRandom });
const processor = createMediaProcessor(files);

let made = 0;
const stored = async (content: Buffer, contentType?: string): Promise<MediaFile> => {
  const key = `site/file${(made += 1)}`;
  async function* chunks() {
    await Promise.resolve();
    yield content;
  }
  await files.store(key, chunks(), content.length);
  return { key, bytes: content.length, contentType: contentType ?? (await contentTypeOf(content.subarray(0, 65_536), 'file')) };
};

const contentOf = async (key: string): Promise<Buffer> => {
  const found = await files.read(key);
  if (found === null) throw new Error(`${key} is not there`);
  return Buffer.concat((await found.content.toArray()) as Buffer[]);
};

const keysOf = async (prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of files.list(prefix)) keys.push(key);
  return keys.sort();
};

describe('a picture', () => {
  test('gets variants in WebP and a JPEG, upright, without anything of its metadata', async () => {
    const photo = await photograph(2000, 1200);
    expect((await sharp(photo).metadata()).orientation).toBe(6);
    expect(photo.includes('CanaryCamera')).toBe(true);
    const file = await stored(photo);
    const { width, height, variants } = await processor.processPicture(file);
    expect([width, height]).toStrictEqual([1200, 2000]);
    expect(variants.map(({ contentType, width: w, height: h }) => [contentType, w, h])).toStrictEqual([
      ['image/webp', 480, 800],
      ['image/webp', 960, 1600],
      ['image/webp', 1200, 2000],
      ['image/jpeg', 960, 1600],
    ]);
    for (const variant of variants) {
      const content = await contentOf(variant.key);
      expect(content.length).toBe(variant.bytes);
      const { exif, icc, xmp, orientation, ...metadata } = await sharp(content).metadata();
      expect([exif, icc, xmp, orientation]).toStrictEqual([undefined, undefined, undefined, undefined]);
      expect([metadata.width, metadata.height]).toStrictEqual([variant.width, variant.height]);
      expect(await contentTypeOf(content, 'x')).toBe(variant.contentType);
    }
    expect(await keysOf(file.key)).toStrictEqual([file.key, ...variants.map(({ key }) => key)].sort());
    await processor.removeVariants(variants);
    expect(await keysOf(file.key)).toStrictEqual([file.key]);
  });

  test('is never made larger, and keeps what is transparent', async () => {
    const png = await picture(300, 200).ensureAlpha(0.5).png().toBuffer();
    const { variants } = await processor.processPicture(await stored(png));
    expect(variants.map(({ contentType, width }) => [contentType, width])).toStrictEqual([
      ['image/webp', 300],
      ['image/png', 300],
    ]);
    for (const { key } of variants) expect((await sharp(await contentOf(key)).metadata()).hasAlpha).toBe(true);
  });

  test.each([
    ['webp', () => picture(64, 48).webp().toBuffer()],
    ['avif', () => picture(64, 48).avif({ effort: 0 }).toBuffer()],
    ['png', () => picture(64, 48).png().toBuffer()],
    ['gif', () => picture(64, 48).gif().toBuffer()],
  ])('may be %s', async (_format, make) => {
    const { width, height, variants } = await processor.processPicture(await stored(await make()));
    expect([width, height, variants.length]).toStrictEqual([64, 48, 2]);
  });

  test('that moves goes on moving', async () => {
    const { width, height, variants } = await processor.processPicture(await stored(await animation(600, 40, 3)));
    expect([width, height]).toStrictEqual([600, 40]);
    expect(variants.map(({ contentType, width: w, height: h }) => [contentType, w, h])).toStrictEqual([
      ['image/webp', 600, 40],
      ['image/gif', 600, 40],
    ]);
    for (const { key } of variants) expect((await sharp(await contentOf(key), { animated: true }).metadata()).pages).toBe(3);
  });

  /** 56 million pixels of one colour in a small file. */
  const bomb = (): Promise<Buffer> =>
    sharp({ create: { width: 8_000, height: 7_000, channels: 3, background: '#fff' } })
      .png({ compressionLevel: 1 })
      .toBuffer();

  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>',
  );

  test.each<[string, () => Promise<Buffer>, string | undefined, RegExp]>([
    ['cut off', async () => (await picture(600, 400).jpeg().toBuffer()).subarray(0, 2_000), undefined, /broken/],
    ['of nothing but a head', () => Promise.resolve(Buffer.from('\x89PNG\r\n\x1a\nxxxxxxxx', 'latin1')), 'image/png', /broken/],
    ['a decompression bomb', bomb, undefined, /at most 50 million pixels/],
    ['an animation of too many pixels', () => animation(1_500, 1_500, 16), undefined, /at most 25 million pixels in all/],
    ['an SVG that says to be a PNG', () => Promise.resolve(svg), 'image/png', /broken/],
    ['a GIF that says to be a JPEG', () => picture(9, 9).gif().toBuffer(), 'image/jpeg', /what it is named/],
    ['a TIFF', () => picture(9, 9).tiff().toBuffer(), 'image/png', /broken/],
  ])('that is %s is refused, and leaves nothing', async (_what, make, contentType, words) => {
    const file = await stored(await make(), contentType);
    const refused = processor.processPicture(file);
    await expect(refused).rejects.toThrow(UnreadableMedia);
    await expect(refused).rejects.toThrow(words);
    expect(await keysOf(file.key)).toStrictEqual([file.key]);
  });

  test('of 50 million pixels is decoded without stopping others, and with bounded memory', async () => {
    const large = await sharp({ create: { width: 8_000, height: 6_000, channels: 3, background: '#357' } })
      .jpeg()
      .toBuffer();
    const file = await stored(large);
    const before = process.memoryUsage().rss;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { width, height } = await processor.processPicture(file);
    clearImmediate(next);
    expect([width, height]).toStrictEqual([8_000, 6_000]);
    expect(turns).toBeGreaterThan(100);
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
  });
});

describe('a video', () => {
  test.each([
    ['mp4', 640, 360, 0, [640, 360]],
    ['mp4', 640, 360, 90, [360, 640]],
    ['webm', 1280, 720, 0, [1280, 720]],
  ] as const)('%s of %i × %i, turned by %i degrees, says how it is shown', async (kind, width, height, rotation, shown) => {
    const file = await stored(await video(kind, width, height, rotation));
    expect(file.contentType).toBe(`video/${kind}`);
    const shape = await processor.readVideo(file);
    expect([shape.width, shape.height]).toStrictEqual(shown);
    expect(shape.durationMs).toBe(500);
  });

  test.each<[string, () => Promise<Buffer>]>([
    ['cut off', async () => (await video('mp4', 640, 360)).subarray(0, 300)],
    ['cut off in its head', async () => (await video('webm', 640, 360)).subarray(0, 60)],
    ['a picture', () => picture(9, 9).png().toBuffer()],
    ['noise', () => Promise.resolve(Buffer.from(systemRandom.bytes(5_000)))],
  ])('that is %s is refused', async (_what, make) => {
    await expect(processor.readVideo(await stored(await make(), 'video/mp4'))).rejects.toThrow(UnreadableMedia);
  });
});
