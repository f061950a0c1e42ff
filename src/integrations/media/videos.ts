import type { FileStore } from '../files/port.js';
import { UnreadableMedia, type MediaFile, type VideoShape } from './port.js';

/** What is read of a video at most: its container's tables, not its frames. */
const maxBytesRead = 32 * 1024 * 1024;
const maxPixelsAcross = 16_384;

/** Reads the container of a video by mediabunny, which asks for the parts that it needs. */
export const readVideo = async (files: FileStore, { key, bytes }: MediaFile): Promise<VideoShape> => {
  // Loaded with the first video, because it takes too long for a cold start.
  const { CustomSource, Input, MP4, WEBM } = await import('mediabunny');
  let bytesRead = 0;
  let fault: Error | undefined;
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    bytesRead += end - start;
    if (bytesRead > maxBytesRead) throw new UnreadableMedia('must say its size near its beginning or its end');
    try {
      return await readPart(files, key, start, end);
    } catch (error) {
      // What the store says is no fault of the video.
      fault = error instanceof Error ? error : new Error(String(error));
      throw fault;
    }
  };
  const source = new CustomSource({ getSize: () => bytes, read, maxCacheSize: 4 * 1024 * 1024 });
  const input = new Input({ formats: [MP4, WEBM], source });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new UnreadableMedia('must hold a video, not sound alone');
    const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
    if (![width, height].every((across) => Number.isInteger(across) && across > 0 && across <= maxPixelsAcross)) {
      throw new UnreadableMedia(`must be at most ${String(maxPixelsAcross)} pixels wide and high`);
    }
    const seconds = await input.getDurationFromMetadata();
    const isKnown = seconds !== null && Number.isFinite(seconds) && seconds > 0;
    return { width, height, ...(isKnown && { durationMs: Math.round(seconds * 1_000) }) };
  } catch (error) {
    if (fault !== undefined) throw fault;
    if (error instanceof UnreadableMedia) throw error;
    throw new UnreadableMedia('must be a video that can be read; this one is broken', { cause: error });
  } finally {
    input.dispose();
  }
};

const readPart = async (files: FileStore, key: string, start: number, end: number): Promise<Uint8Array> => {
  const found = await files.read(key, { start, end: end - 1 });
  if (found === null) throw new UnreadableMedia('must be there');
  const chunks: Buffer[] = [];
  for await (const chunk of found.content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
