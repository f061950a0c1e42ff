import { brokenVideo, type Container, type Part, type PartHead, type Span } from './container.js';
import type { Size, VideoShape } from './port.js';

/** Ids of elements (RFC 9559, 5). */
const ids = {
  segment: '18538067',
  info: '1549a966',
  timestampScale: '2ad7b1',
  duration: '4489',
  tracks: '1654ae6b',
  trackEntry: 'ae',
  trackType: '83',
  video: 'e0',
  pixelWidth: 'b0',
  pixelHeight: 'ba',
  displayWidth: '54b0',
  displayHeight: '54ba',
  cluster: '1f43b675',
} as const;

/** Of an element (RFC 8794, 4 to 6). */
export const elementHeadOf = (bytes: Buffer): PartHead => {
  const idBytes = lengthOfNumber(bytes.readUInt8(0));
  const sizeBytes = lengthOfNumber(bytes.readUInt8(idBytes));
  // The first bit that is set says how many bytes there are. It goes first: a double has not the bits for both.
  const size = Buffer.from(bytes.subarray(idBytes, idBytes + sizeBytes));
  if (size.length < sizeBytes) throw brokenVideo();
  const mask = 0xff >> sizeBytes;
  size.writeUInt8(size.readUInt8(0) & mask);
  const isUnknown = size.every((byte, index) => byte === (index === 0 ? mask : 0xff));
  const contentBytes = isUnknown ? null : unsignedOf(size);
  return { name: bytes.toString('hex', 0, idBytes), bytes: idBytes + sizeBytes, contentBytes };
};

/**
 * What the head of a segment says; `null` when it has no track of pictures.
 * `durationMs` is no positive number when it is not known.
 */
export const readWebm = async (container: Container, file: Span): Promise<VideoShape | null> => {
  for await (const { name, ...segment } of container.partsOf(file)) {
    if (name === ids.segment) return readSegment(container, segment);
  }
  throw brokenVideo();
};

const readSegment = async (container: Container, segment: Span): Promise<VideoShape | null> => {
  let size: Size | null | undefined;
  let durationMs = 0;
  for await (const part of container.partsOf(segment)) {
    if (part.name === ids.info) durationMs = await durationOf(container, part);
    else if (part.name === ids.tracks) size ??= await sizeIn(container, part);
    // What comes behind the frames says nothing new.
    else if (part.name === ids.cluster && size !== undefined) break;
  }
  if (size === undefined) throw brokenVideo();
  return size === null ? null : { ...size, durationMs };
};

/** 0 when it is not known. */
const durationOf = async (container: Container, info: Part): Promise<number> => {
  const found = await valuesIn(container, info);
  const duration = found.get(ids.duration) ?? Buffer.alloc(0);
  const ticks = duration.length === 8 ? duration.readDoubleBE() : duration.length === 4 ? duration.readFloatBE() : 0;
  return (ticks * (numberIn(found, ids.timestampScale) || 1_000_000)) / 1_000_000;
};

const sizeIn = async (container: Container, tracks: Part): Promise<Size | null> => {
  for await (const track of container.partsOf(tracks)) {
    if (track.name !== ids.trackEntry) continue;
    for await (const part of container.partsOf(track)) {
      if (part.name === ids.video) return sizeOf(await valuesIn(container, part));
    }
  }
  return null;
};

/** As it is shown: its pixels need not be square. */
const sizeOf = (video: Values): Size => {
  const [width, height] = [numberIn(video, ids.pixelWidth), numberIn(video, ids.pixelHeight)];
  const [shownWidth, shownHeight] = [numberIn(video, ids.displayWidth), numberIn(video, ids.displayHeight)];
  const stretch = (shownWidth / shownHeight) * (height / width);
  if (!Number.isFinite(stretch) || stretch === 0) return { width, height };
  return stretch > 1 ? { width: Math.round(width * stretch), height } : { width, height: Math.round(height / stretch) };
};

/** The bytes of the elements that lie in one, by their ids. */
type Values = ReadonlyMap<string, Buffer>;

const valuesIn = async (container: Container, span: Span): Promise<Values> => {
  const found = new Map<string, Buffer>();
  for await (const part of container.partsOf(span)) found.set(part.name, await container.read(part, 8));
  return found;
};

/** 0 of one that is not there. */
const numberIn = (values: Values, id: string): number => unsignedOf(values.get(id) ?? Buffer.alloc(0));

const unsignedOf = (bytes: Buffer): number => bytes.reduce((value, byte) => value * 256 + byte, 0);

/** How many bytes a number of variable size has that begins with this one. */
const lengthOfNumber = (first: number): number => {
  if (first === 0) throw brokenVideo();
  return Math.clz32(first) - 23;
};
