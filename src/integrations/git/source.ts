import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, inflate as inflateWithCallback, inflateSync } from 'node:zlib';

/** `isTooLarge`: nothing is damaged, but reading on would take more memory or time than allowed. */
export class UnreadableRepository extends Error {
  override readonly name = 'UnreadableRepository';
  readonly isTooLarge: boolean;
  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

export const damaged = (what: string): UnreadableRepository => new UnreadableRepository(`${what} is damaged`);

/** Where inflated data starts in a file, and where the file ends. `file`: or all that is in it. */
export interface Source {
  readonly file: FileHandle | Buffer;
  readonly at: number;
  readonly end: number;
}

export const readBytes = async ({ file, at, end }: Source, length: number): Promise<Buffer> => {
  const size = Math.max(0, Math.min(length, end - at));
  if (Buffer.isBuffer(file)) return file.subarray(at, at + size);
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
  return bytes.subarray(0, bytesRead);
};

/** Handing less than that to another thread takes longer than inflating it. */
const maxInflatedHere = 64 * 1024;
const inflateElsewhere = promisify(inflateWithCallback);

/** What is packed last may be cut off. */
const inflate = async (packed: Buffer, maxBytes?: number): Promise<Buffer> => {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, ...(maxBytes !== undefined && { maxOutputLength: maxBytes }) };
  return (maxBytes ?? Infinity) <= maxInflatedHere ? inflateSync(packed, options) : inflateElsewhere(packed, options);
};

/** Inflates the beginning of `source`, and of that not more than `maxBytes`. */
export const inflateStart = async (source: Source, maxBytes: number): Promise<Buffer> => {
  // The tables that come first take up to 300 bytes; 512 bytes inflate to at most half a million.
  const packed = await readBytes(source, 512);
  try {
    return (await inflate(packed)).subarray(0, maxBytes);
  } catch {
    throw damaged('An object');
  }
};

/**
 * Inflates what must be `size` bytes long. Reads more and more of the file, because nothing says
 * how long the data is before it is inflated.
 */
export const inflateExactly = async (source: Source, size: number): Promise<Buffer> => {
  // Data that cannot be compressed grows by less than that.
  const maxPackedBytes = size + Math.ceil(size / 1_000) + 64;
  for (let length = Math.min(maxPackedBytes, 16_384); ; length = Math.min(maxPackedBytes, length * 8)) {
    const packed = await readBytes(source, length);
    let content: Buffer;
    try {
      content = await inflate(packed, Math.max(size, 1));
    } catch {
      throw damaged('An object'); // It is not deflated, or longer than it says.
    }
    if (content.length === size) return content;
    if (content.length > size || length >= maxPackedBytes || packed.length < length) throw damaged('An object');
  }
};
