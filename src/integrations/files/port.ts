import type { Readable } from 'node:stream';
import type { StoredContent } from '../../platform/measuredContent.js';

/**
 * Where uploaded files are kept, under keys such as `01m8…/01m8…`: parts of letters, digits, `-` and
 * `_`, with slashes between. The contract suite, `test/contracts/files.contract.ts`, says what every
 * adapter promises. Every call may throw ProviderFault (`integrations/fault.ts`).
 */
export interface FileStore {
  readonly provider: string;

  /** The origin of all its `signedUrl`s, which pages have to name; absent when it has none. */
  readonly origin?: string;

  /**
   * Stores a file, durably when it resolves. It is there whole or not at all: when `content` throws,
   * or the process dies, nothing can be read under the key. A file that has the key is replaced.
   * Memory does not grow with the file.
   * @throws FileTooLarge when it has more than `maxBytes`; FileStoreFull; what `content` throws
   */
  store(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredContent>;

  /**
   * The file, or the part of it that `range` names, which has to lie in it; `null` when there is
   * none. A caller that does not read `content` to its end destroys it.
   */
  read(key: string, range?: ByteRange): Promise<FileContent | null>;

  /** Removes the file durably, if it is there. */
  remove(key: string): Promise<void>;

  /** Every file whose key begins with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<ListedFile>;

  /**
   * An address that gives the file to whoever has it until `expiresInS` seconds have passed, and no
   * other file; `null` when this store has no addresses of its own, and the service serves its files.
   */
  signedUrl(key: string, download: Download): Promise<string | null>;

  /**
   * Removes what uploads have left that were cut off before `before` (ms since the epoch); resolves
   * with how many.
   */
  removeDrafts(before: number): Promise<number>;
}

/** The first and the last byte, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface FileContent {
  /** Of the whole file. */
  readonly bytes: number;
  readonly content: Readable;
}

export interface ListedFile {
  readonly key: string;
  readonly bytes: number;
  /** Ms since the epoch, by the clock of the store. */
  readonly storedAt: number;
}

/** How a file is handed out. */
export interface Download {
  readonly expiresInS: number;
  readonly contentType: string;
  /** The value of `Content-Disposition`. */
  readonly disposition: string;
}

/** There is no room for the file. */
export class FileStoreFull extends Error {
  override readonly name = 'FileStoreFull';
}
