import type { Metadata, Sharp } from 'sharp';
import { lazily } from '../../platform/lazily.js';
import type { FileStore } from '../files/port.js';
import { UnreadableMedia, type MediaFile, type MediaVariant, type ProcessedPicture, type Size } from './port.js';

/** Compressed; it is held in memory while it is decoded. */
const maxPictureBytes = 30_000_000;
/** What is decoded is at most four times as many bytes. */
const maxPixels = 50_000_000;
/** Of all frames together: each is encoded by itself. */
const maxAnimatedPixels = 25_000_000;
/** A frame takes time whatever its size, and the next picture waits. */
const maxFrames = 3_000;
const timeoutS = 20;
/** Of variants, in pixels; the widest one is no wider than the last. */
const widths = [480, 960, 1600];
const fallbackWidth = 960;
/** Of variants, in pixels: WebP has no more. */
const maxHeight = 16_383;

/** The formats that are decoded; libvips reads more, SVG and PDF among them. */
const formats: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpeg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/avif', 'heif'],
]);

/** Loaded with the first picture, because it takes too long for a cold start. */
const loadSharp = async () => {
  const { default: sharp } = await import('sharp');
  // Variants of one picture come from the same file once: keeping them costs memory alone.
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: [
      'VipsForeignLoadJpeg',
      'VipsForeignLoadPng',
      'VipsForeignLoadNsgif',
      'VipsForeignLoadWebp',
      'VipsForeignLoadHeif',
    ],
  });
  return sharp;
};

/** Decodes pictures by libvips, in threads of its own, one picture at a time in each process. */
export const createPictureProcessor = (files: FileStore): ((file: MediaFile) => Promise<ProcessedPicture>) => {
  const load = lazily(loadSharp);
  /** The end of the picture before. */
  let last: Promise<unknown> = Promise.resolve();

  const process = async (file: MediaFile): Promise<ProcessedPicture> => {
    const sharp = await load();
    if (file.bytes > maxPictureBytes) throw new UnreadableMedia(`must have at most ${String(maxPictureBytes / 1_000_000)} MB`);
    const content = await readWhole(files, file);
    const open = (isAnimated: boolean): Sharp =>
      sharp(content, { limitInputPixels: maxPixels, sequentialRead: true, animated: isAnimated, failOn: 'error' }).timeout({
        seconds: timeoutS,
      });

    const metadata = await readable(open(true).metadata());
    if (metadata.format !== formats.get(file.contentType)) throw new UnreadableMedia('must be what it is named');
    const { pages: frames = 1 } = metadata;
    if (frames > maxFrames) throw new UnreadableMedia(`must have at most ${String(maxFrames)} frames`);
    const size = sizeOf(metadata);
    if (frames > 1 && size.width * size.height * frames > maxAnimatedPixels) {
      throw new UnreadableMedia(`must have at most ${String(maxAnimatedPixels / 1_000_000)} million pixels in all its frames`);
    }
    const stored: MediaVariant[] = [];
    try {
      for (const plan of plansFor(metadata, size)) {
        const upright = open(plan.isAnimated)
          .autoOrient()
          .resize({ width: plan.width, height: maxHeight, fit: 'inside', withoutEnlargement: true });
        const { data, info } = await readable(plan.encode(upright).toBuffer({ resolveWithObject: true }));
        const height = info.pageHeight ?? info.height;
        const key = `${file.key}-${String(info.width)}-${plan.name}`;
        const variant = { key, contentType: plan.contentType, bytes: data.length, width: info.width, height };
        stored.push(variant);
        await files.store(key, chunksOf(data), data.length);
      }
    } catch (error) {
      for (const { key } of stored) await files.remove(key);
      throw error;
    }
    return { ...size, variants: stored };
  };

  return (file) => {
    const processed = last.then(() => process(file));
    last = processed.catch(() => undefined);
    return processed;
  };
};

interface VariantPlan {
  readonly width: number;
  /** Else it is of the first frame. */
  readonly isAnimated: boolean;
  readonly name: string;
  readonly contentType: string;
  readonly encode: (picture: Sharp) => Sharp;
}

/**
 * WebP in all widths, an animation in one, and one picture in a format that every program reads.
 */
const plansFor = ({ format, hasAlpha, pages = 1 }: Metadata, size: Size): readonly VariantPlan[] => {
  const isAnimated = pages > 1;
  const width = Math.max(1, Math.floor(size.width * Math.min(1, maxHeight / size.height)));
  const widest = Math.min(width, isAnimated ? fallbackWidth : (widths.at(-1) ?? width));
  const webp = [...widths.filter((each) => each < widest && !isAnimated), widest].map((each) => ({
    width: each,
    isAnimated,
    name: 'webp',
    contentType: 'image/webp',
    encode: (picture: Sharp) => picture.webp({ quality: 78, effort: 3 }),
  }));
  return [...webp, { width: Math.min(width, fallbackWidth), ...fallbackOf(format === 'gif' && isAnimated, hasAlpha) }];
};

const fallbackOf = (isAnimatedGif: boolean, hasAlpha: boolean): Omit<VariantPlan, 'width'> => {
  if (isAnimatedGif)
    return { isAnimated: true, name: 'gif', contentType: 'image/gif', encode: (picture) => picture.gif({ effort: 3 }) };
  const still = { isAnimated: false };
  return hasAlpha
    ? { ...still, name: 'png', contentType: 'image/png', encode: (picture) => picture.png({ compressionLevel: 8 }) }
    : {
        ...still,
        name: 'jpeg',
        contentType: 'image/jpeg',
        encode: (picture) => picture.jpeg({ quality: 80, progressive: true }),
      };
};

const sizeOf = ({ autoOrient, pageHeight, pages = 1 }: Metadata): Size => ({
  width: autoOrient.width,
  // Frames lie one below the other.
  height: pages > 1 && pageHeight !== undefined ? pageHeight : autoOrient.height,
});

/** libvips says what is wrong in words for developers. */
const readable = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    const words = error instanceof Error ? error.message : '';
    if (/pixel limit/i.test(words)) {
      throw new UnreadableMedia(`must have at most ${String(maxPixels / 1_000_000)} million pixels`, { cause: error });
    }
    throw new UnreadableMedia('must be a picture that can be read; this one is broken, or takes too long', { cause: error });
  }
};

const readWhole = async (files: FileStore, { key }: MediaFile): Promise<Buffer> => {
  const found = await files.read(key);
  if (found === null) throw new UnreadableMedia('must be there');
  const chunks: Buffer[] = [];
  for await (const chunk of found.content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

async function* chunksOf(data: Uint8Array): AsyncGenerator<Uint8Array, void> {
  await Promise.resolve();
  yield data;
}
