import { UnreadableMedia } from './port.js';

/** What cannot be a video: its parts do not fit into each other, or it ends too early. */
export const brokenVideo = (cause?: unknown): UnreadableMedia =>
  new UnreadableMedia('must be a video that can be read; this one is broken', { cause });

/** Heads of parts that are read of one video; each is read with `blockBytes` at most. */
const maxParts = 500;
const blockBytes = 16_384;
/** Of the largest head: that of a box with a length of 64 bits. */
const maxHeadBytes = 16;

/** Bytes of the file, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A box of MP4, an element of WebM: where its content is. */
export interface Part extends Span {
  readonly name: string;
}

export interface PartHead {
  readonly name: string;
  /** Of the head itself. */
  readonly bytes: number;
  /** `null`: to the end of what it is in. */
  readonly contentBytes: number | null;
}

/** A video file as parts that lie one behind the other and in each other. */
export interface Container {
  /** The parts that lie in the span, in order. @throws UnreadableMedia */
  partsOf(span: Span): AsyncIterable<Part>;
  /** The first so many bytes of the span, or all that it has. */
  read(span: Span, maxBytes: number): Promise<Buffer>;
}

/**
 * Reads heads of parts, and of their content only what is asked for: no number in a file decides how
 * much memory or time it takes.
 * @param read the bytes of the span
 * @param headOf may read beyond the bytes that there are, which Node refuses
 */
export const openContainer = (read: (span: Span) => Promise<Buffer>, headOf: (bytes: Buffer) => PartHead): Container => {
  let parts = 0;
  let block: Span & { readonly content: Buffer } = { start: 0, end: 0, content: Buffer.alloc(0) };

  const readWithin = async ({ start, end: limit }: Span, maxBytes: number): Promise<Buffer> => {
    const end = Math.min(limit, start + maxBytes);
    if (end <= start) return Buffer.alloc(0);
    if (start < block.start || end > block.end) {
      const content = await read({ start, end: start + blockBytes });
      block = { start, end: start + content.length, content };
    }
    return block.content.subarray(start - block.start, end - block.start);
  };

  async function* partsOf({ start, end }: Span): AsyncGenerator<Part, void> {
    for (let at = start; at < end;) {
      parts += 1;
      if (parts > maxParts) throw new UnreadableMedia('must say its size near its beginning or its end');
      const head = headOf(await readWithin({ start: at, end }, maxHeadBytes));
      const contentStart = at + head.bytes;
      const contentEnd = head.contentBytes === null ? end : contentStart + head.contentBytes;
      if (contentEnd < contentStart || contentEnd > end) throw brokenVideo();
      yield { name: head.name, start: contentStart, end: contentEnd };
      at = contentEnd;
    }
  }

  return { partsOf, read: readWithin };
};
