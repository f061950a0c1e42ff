import { systemErrorCode } from '../../platform/systemError.js';
import type { FileStore } from '../files/port.js';
import { brokenVideo, openContainer, type Span } from './container.js';
import { boxHeadOf, readMp4 } from './mp4.js';
import { UnreadableMedia, type MediaFile, type VideoShape } from './port.js';
import { elementHeadOf, readWebm } from './webm.js';

const maxPixelsAcross = 16_384;

/** Reads what the container of a video says in its head: its frames and the tables of them never. */
export const readVideo = async (files: FileStore, { key, bytes, contentType }: MediaFile): Promise<VideoShape> => {
  const read = ({ start, end }: Span): Promise<Buffer> => readPart(files, key, start, Math.min(end, bytes));
  const file = { start: 0, end: bytes };
  const [headOf, readShape] = contentType === 'video/webm' ? [elementHeadOf, readWebm] : [boxHeadOf, readMp4];
  const shape = await readable(readShape(openContainer(read, headOf), file));
  if (shape === null) throw new UnreadableMedia('must hold a video, not sound alone');
  const { width, height } = shape;
  if (![width, height].every((across) => Number.isInteger(across) && across > 0 && across <= maxPixelsAcross)) {
    throw new UnreadableMedia(`must be at most ${String(maxPixelsAcross)} pixels wide and high`);
  }
  const durationMs = Math.round(shape.durationMs ?? 0);
  return { width, height, ...(Number.isSafeInteger(durationMs) && durationMs > 0 && { durationMs }) };
};

/** What Node says of a read beyond the end of a buffer. */
const tooShort: ReadonlySet<string> = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** What the store says is no fault of the video. */
const readable = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    throw tooShort.has(systemErrorCode(error) ?? '') ? brokenVideo(error) : error;
  }
};

const readPart = async (files: FileStore, key: string, start: number, end: number): Promise<Buffer> => {
  const found = await files.read(key, { start, end: end - 1 });
  if (found === null) throw new UnreadableMedia('must be there');
  const chunks: Buffer[] = [];
  for await (const chunk of found.content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
