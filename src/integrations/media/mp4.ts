import { brokenVideo, type Container, type Part, type PartHead, type Span } from './container.js';
import type { Size, VideoShape } from './port.js';

/** Of a box (ISO/IEC 14496-12, 4.2). */
export const boxHeadOf = (bytes: Buffer): PartHead => {
  const name = bytes.toString('latin1', 4, 8);
  const length = bytes.readUInt32BE(0);
  if (length === 0) return { name, bytes: 8, contentBytes: null };
  if (length === 1) return { name, bytes: 16, contentBytes: Number(bytes.readBigUInt64BE(8)) - 16 };
  return { name, bytes: 8, contentBytes: length - 8 };
};

/**
 * What the head of a movie says; `null` when it has no track of pictures. The tables of its frames are not read.
 * `durationMs` is no positive number when it is not known.
 */
export const readMp4 = async (container: Container, file: Span): Promise<VideoShape | null> => {
  const movie = await find(container, file, 'moov');
  let size: Size | null = null;
  let ticksPerS = 0;
  let ticks = 0;
  for await (const part of container.partsOf(movie)) {
    if (part.name === 'mvhd') {
      const header = await container.read(part, 32);
      ticksPerS = header.readUInt32BE(isLong(header) ? 20 : 12);
      ticks = durationAt(header, isLong(header) ? 24 : 16);
    } else if (part.name === 'trak') {
      size ??= await sizeOf(container, part);
    } else if (part.name === 'mvex' && ticks === 0) {
      // The movie is in fragments.
      ticks = await fragmentsDuration(container, part);
    }
  }
  return size === null ? null : { ...size, durationMs: (ticks / ticksPerS) * 1_000 };
};

/** The first part of that name. */
const find = async (container: Container, span: Span, name: string): Promise<Part> => {
  for await (const part of container.partsOf(span)) if (part.name === name) return part;
  throw brokenVideo();
};

/** Version 1 of a box has times of 64 bits. */
const isLong = (box: Buffer): boolean => box.readUInt8(0) === 1;

/** 0 when it is not known. */
const durationAt = (box: Buffer, offset: number): number => {
  if (isLong(box)) {
    const long = box.readBigUInt64BE(offset);
    return long === 0xffff_ffff_ffff_ffffn ? 0 : Number(long);
  }
  const short = box.readUInt32BE(offset);
  return short === 0xffff_ffff ? 0 : short;
};

const fragmentsDuration = async (container: Container, extensions: Part): Promise<number> => {
  for await (const part of container.partsOf(extensions)) {
    if (part.name === 'mehd') return durationAt(await container.read(part, 12), 4);
  }
  return 0;
};

/** As it is shown; `null` of a track that holds something else than pictures. */
const sizeOf = async (container: Container, track: Part): Promise<Size | null> => {
  const handler = await container.read(await find(container, await find(container, track, 'mdia'), 'hdlr'), 12);
  if (handler.toString('latin1', 8) !== 'vide') return null;
  const header = await container.read(await find(container, track, 'tkhd'), 96);
  const matrixAt = isLong(header) ? 52 : 40;
  const across = (offset: number): number => Math.round(header.readUInt32BE(matrixAt + offset) / 0x1_0000);
  const [width, height] = [across(36), across(40)];
  // The matrix turns it by 90 degrees, either way, when it maps no x to x and no y to y.
  const isTurned = header.readInt32BE(matrixAt) === 0 && header.readInt32BE(matrixAt + 16) === 0;
  return isTurned ? { width: height, height: width } : { width, height };
};
