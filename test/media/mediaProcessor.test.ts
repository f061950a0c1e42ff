import { describe, expect, jest, test } from '@jest/globals';
import sharp from 'sharp';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import { createMediaProcessor } from '../../src/integrations/media/processor.js';
import { UnreadableMedia, type MediaFile } from '../../src/integrations/media/port.js';
import { contentTypeOf } from '../../src/platform/fileContentType.js';
import { systemRandom } from '../../src/platform/random.js';
import { animatedWebp, animation, photograph, picture, video } from '../support/mediaFiles.js';
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

  /** WebP has 16,383 pixels a side at most, JPEG 65,535. */
  test.each([
    [1_200, 17_000, [480, 960, 1_156, 960]],
    [400, 70_000, [93, 93]],
    [2, 70_000, [1, 1]],
    [40_000, 100, [480, 960, 1_600, 960]],
  ])('of %i × %i pixels is not too long for the formats of variants', async (width, height, widths) => {
    const long = await sharp({ create: { width, height, channels: 3, background: '#357' } })
      .png()
      .toBuffer();
    const processed = await processor.processPicture(await stored(long));
    expect([processed.width, processed.height]).toStrictEqual([width, height]);
    expect(processed.variants.map((variant) => variant.width)).toStrictEqual(widths);
    expect(Math.max(...processed.variants.map((variant) => variant.height))).toBeLessThan(16_384);
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

  /** What does not move shows the first frame. */
  test.each<[string, () => Promise<Buffer>, string, number]>([
    ['GIF', () => animation(600, 40, 3), 'image/gif', 3],
    ['WebP', () => animatedWebp(600, 40, 3), 'image/jpeg', 1],
    ['transparent WebP', () => animatedWebp(600, 40, 3, 0.5), 'image/png', 1],
    ['WebP whose frames are higher than a JPEG may be, one below the other', () => animatedWebp(9, 2_000, 40), 'image/jpeg', 1],
  ])('that moves, a %s, goes on moving where browsers choose', async (_what, make, fallback, framesOfFallback) => {
    const { width, height, variants } = await processor.processPicture(await stored(await make()));
    const { pages: frames } = await sharp(await make()).metadata();
    const found = await Promise.all(
      variants.map(async ({ key, contentType, ...said }) => {
        const content = await contentOf(key);
        const { pages = 1, pageHeight, ...real } = await sharp(content, { animated: true }).metadata();
        expect([said.width, said.height]).toStrictEqual([real.width, pageHeight ?? real.height]);
        expect(await contentTypeOf(content, 'x')).toBe(contentType);
        return [contentType, said.width, said.height, pages];
      }),
    );
    expect(found).toStrictEqual([
      ['image/webp', width, height, frames],
      [fallback, width, height, framesOfFallback],
    ]);
  });

  /** 56 million pixels of one colour in a small file. */
  const bomb = (): Promise<Buffer> =>
    sharp({ create: { width: 8_000, height: 7_000, channels: 3, background: '#fff' } })
      .png({ compressionLevel: 1 })
      .toBuffer();

  /** Frames of one pixel, of 23 bytes each. */
  const gifOf = (frames: number): Buffer =>
    Buffer.concat([
      Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1'),
      ...Array.from({ length: frames }, (_, index) =>
        Buffer.from(
          `\x21\xf9\x04\0\x02\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02${index % 2 === 0 ? '\x44' : '\x4c'}\x01\0`,
          'latin1',
        ),
      ),
      Buffer.from([0x3b]),
    ]);

  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>',
  );

  test.each<[string, () => Promise<Buffer>, string | undefined, RegExp]>([
    ['cut off', async () => (await picture(600, 400).jpeg().toBuffer()).subarray(0, 2_000), undefined, /broken/],
    ['of nothing but a head', () => Promise.resolve(Buffer.from('\x89PNG\r\n\x1a\nxxxxxxxx', 'latin1')), 'image/png', /broken/],
    ['a decompression bomb', bomb, undefined, /at most 50 million pixels/],
    ['an animation of too many frames', () => Promise.resolve(gifOf(3_001)), undefined, /at most 3000 frames/],
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

const u32 = (...values: readonly number[]): Buffer[] =>
  values.map((value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  });
const box = (name: string, ...content: readonly Buffer[]): Buffer => {
  const inside = Buffer.concat(content);
  return Buffer.concat([...u32(8 + inside.length), Buffer.from(name), inside]);
};
const fileType = box('ftyp', Buffer.from('isom'), ...u32(0), Buffer.from('isom'));
/** @param duration in ms */
const movieHeader = (duration: number): Buffer => box('mvhd', ...u32(0, 0, 0, 1_000, duration), Buffer.alloc(80));
const trackHeader = (width: number, height: number): Buffer =>
  box(
    'tkhd',
    ...u32(1, 0, 0, 1, 0, 0, 0, 0, 0, 0),
    ...u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000, width * 0x10000, height * 0x10000),
  );
const handler = (kind: string): Buffer => box('hdlr', ...u32(0, 0), Buffer.from(kind), Buffer.alloc(13));
/** A track of frames that are in no file. */
const trackOf = (width: number, height: number, ...tables: readonly Buffer[]): Buffer => {
  const frame = box('avc1', ...u32(0, 1, 0, 0, 0, 0), ...u32((width << 16) | height), Buffer.alloc(50));
  const samples = [box('stsd', ...u32(0, 1), frame), box('stsc', ...u32(0, 1, 1, 1, 1)), box('stco', ...u32(0, 1, 0))];
  const media = [box('mdhd', ...u32(0, 0, 0, 1_000, 5_000, 0)), handler('vide')];
  return box('trak', trackHeader(width, height), box('mdia', ...media, box('minf', box('stbl', ...samples, ...tables))));
};
/** Of 5 s. */
const mp4 = (...tracks: readonly Buffer[]): Buffer => Buffer.concat([fileType, box('moov', movieHeader(5_000), ...tracks)]);

/** Of WebM, in hexadecimal. */
const element = (id: string, ...content: readonly string[]): string => {
  const inside = content.join('');
  return `${id}${(0x4000 | (inside.length / 2)).toString(16)}${inside}`;
};
/** As most programs write the outer ones: with a length of eight bytes. */
const outerElement = (id: string, ...content: readonly string[]): string => {
  const inside = content.join('');
  return `${id}01${(inside.length / 2).toString(16).padStart(14, '0')}${inside}`;
};
const webmHeader = element('4282', '7765626d');
/** Of 640 × 360. */
const webmTracks = element(
  '1654ae6b',
  element('ae', element('83', '01'), element('e0', element('b0', '0280'), element('ba', '0168'))),
);
const unknownLength = '01ffffffffffffff';

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

  test('whose tables say that it has 4 billion frames is read without them', async () => {
    const stts = box('stts', ...u32(0, 1, 0xffff_ffff, 1));
    const ctts = box('ctts', ...u32(0, 1, 1, 0));
    for (const stsz of [box('stsz', ...u32(0, 1, 0xffff_ffff)), box('stz2', ...u32(0, 0, 0xffff_ffff))]) {
      const file = await stored(mp4(trackOf(1920, 1080, stts, ctts, stsz)));
      expect(file.contentType).toBe('video/mp4');
      expect(await processor.readVideo(file)).toStrictEqual({ width: 1920, height: 1080, durationMs: 5_000 });
    }
  });

  test('that is written in fragments has the length that its head names', async () => {
    const fragments = box('mvex', box('mehd', ...u32(0, 7_500)));
    const file = await stored(Buffer.concat([fileType, box('moov', movieHeader(0), trackOf(640, 360), fragments)]));
    expect(await processor.readVideo(file)).toStrictEqual({ width: 640, height: 360, durationMs: 7_500 });
    const unnamed = await stored(Buffer.concat([fileType, box('moov', movieHeader(0xffff_ffff), trackOf(640, 360))]));
    expect(await processor.readVideo(unnamed)).toStrictEqual({ width: 640, height: 360 });
  });

  test('may say what it is after its frames, beyond 4 GB, and after a track of sound', async () => {
    const sound = box('trak', trackHeader(0, 0), box('mdia', handler('soun')));
    const long = Buffer.concat([...u32(1), Buffer.from('mdat'), ...u32(0, 16 + 70_000), Buffer.alloc(70_000)]);
    const file = await stored(Buffer.concat([fileType, long, box('moov', movieHeader(5_000), sound, trackOf(640, 360))]));
    expect(await processor.readVideo(file)).toStrictEqual({ width: 640, height: 360, durationMs: 5_000 });
  });

  /** As browsers record: nothing says how long anything is. */
  test('that was recorded live has no length', async () => {
    const live = `${element('1a45dfa3', webmHeader)}18538067${unknownLength}${element('1549a966', '')}${webmTracks}1f43b675${unknownLength}e7810081`;
    const file = await stored(Buffer.from(live, 'hex'));
    expect(file.contentType).toBe('video/webm');
    expect(await processor.readVideo(file)).toStrictEqual({ width: 640, height: 360 });
  });

  test.each(Array.from({ length: 16 }, (_, index) => index))(
    'may have lengths of eight bytes, with %i bytes more',
    async (more) => {
      const head = outerElement('1a45dfa3', webmHeader, element('ec', '00'.repeat(more)));
      const segment = outerElement('18538067', element('1549a966', ''), webmTracks, element('ec', '00'.repeat(more)));
      const file = await stored(Buffer.from(`${head}${segment}`, 'hex'));
      expect(await processor.readVideo(file)).toStrictEqual({ width: 640, height: 360 });
    },
  );

  test.each<[string, 'video/mp4' | 'video/webm', () => Promise<Buffer> | Buffer, RegExp]>([
    ['cut off', 'video/mp4', async () => (await video('mp4', 640, 360)).subarray(0, 300), /broken/],
    ['cut off in its head', 'video/webm', async () => (await video('webm', 640, 360)).subarray(0, 60), /broken/],
    ['a picture', 'video/mp4', () => picture(9, 9).png().toBuffer(), /broken/],
    ['noise', 'video/mp4', () => Buffer.from(systemRandom.bytes(5_000)), /broken/],
    ['noise', 'video/webm', () => Buffer.from(systemRandom.bytes(5_000)), /broken/],
    ['a box of less than nothing', 'video/mp4', () => Buffer.concat([fileType, ...u32(4), Buffer.from('moov')]), /broken/],
    ['a file that ends in the head of a box', 'video/mp4', () => Buffer.concat([fileType, Buffer.alloc(3)]), /broken/],
    ['a box that ends in its head', 'video/mp4', () => mp4(box('trak', box('tkhd', ...u32(0)))), /broken/],
    [
      'thousands of empty boxes',
      'video/mp4',
      () => mp4(...Array.from({ length: 5_000 }, () => box('free'))),
      /near its beginning/,
    ],
    ['sound alone', 'video/mp4', () => mp4(box('trak', trackHeader(0, 0), box('mdia', handler('soun')))), /sound alone/],
    ['of no size', 'video/mp4', () => mp4(trackOf(0, 0)), /pixels wide and high/],
    ['too large', 'video/mp4', () => mp4(trackOf(16_385, 9)), /at most 16384 pixels/],
  ])('that is %s (%s) is refused', async (_what, contentType, make, words) => {
    const refused = processor.readVideo(await stored(await make(), contentType));
    await expect(refused).rejects.toThrow(UnreadableMedia);
    await expect(refused).rejects.toThrow(words);
  });
});
