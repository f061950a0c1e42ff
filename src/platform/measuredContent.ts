import { createHash } from 'node:crypto';

/** A file has more bytes than it may have. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

export interface StoredContent {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Content that is counted and hashed while it is passed on. */
export interface Measured {
  readonly content: AsyncGenerator<Uint8Array, void>;
  /** Of what was passed on so far. */
  readonly stored: () => StoredContent;
  /** Whether the content itself went wrong, and not whatever takes it. */
  readonly hasFailed: () => boolean;
}

/** Ends with FileTooLarge as soon as there are more than `maxBytes`. */
export const measure = (content: AsyncIterable<Uint8Array>, maxBytes: number): Measured => {
  const hash = createHash('sha256');
  let bytes = 0;
  let hasFailed = false;
  async function* passOn(): AsyncGenerator<Uint8Array, void> {
    // Until the content was taken to its end, or its taker gives up.
    hasFailed = true;
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new FileTooLarge(`the file has more than ${String(maxBytes)} bytes`);
      hash.update(chunk);
      hasFailed = false;
      yield chunk;
      hasFailed = true;
    }
    hasFailed = false;
  }
  return { content: passOn(), stored: () => ({ bytes, sha256: hash.copy().digest('hex') }), hasFailed: () => hasFailed };
};
