import type { IncomingMessage } from 'node:http';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type BrotliCompress,
  type BrotliOptions,
  type Gzip,
} from 'node:zlib';
import { acceptedEncoding, type Encoding } from '../platform/encodings.js';

/** Shorter ones fit into one packet as they are. */
const minBytes = 1_025;
/** Up to here it takes less than 0.1 ms, which is less than handing it to another thread. */
const maxSyncBytes = 64 * 1_024;

const compressible = /^(?:text\/|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:x-nd)?json|application\/javascript)/;

/**
 * Whether an answer may be sent compressed. No answer mixes somebody else's text with a secret that
 * a page of theirs could have a browser send, so that its length reveals nothing.
 */
export const isCompressible = (body: string | Uint8Array | undefined, contentType = ''): boolean =>
  body !== undefined && isLong(body) && isCompressibleType(contentType);

/** A text has at least as many bytes as characters, so that most are not counted. */
const isLong = (body: string | Uint8Array): boolean => body.length >= minBytes || Buffer.byteLength(body) >= minBytes;

/** Whether what is of this type becomes shorter. */
export const isCompressibleType = (contentType = ''): boolean => compressible.test(contentType);

/** What the caller wants it as; `null`: as it is. */
export const encodingFor = ({ headers }: IncomingMessage): Encoding | null => {
  const accepted = headers['accept-encoding'];
  return typeof accepted === 'string' ? acceptedEncoding(accepted) : null;
};

/** At levels that cost less processor time than they save on any network. */
const brotliFor = (size: number): BrotliOptions => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_LGWIN]: 16,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
  },
});
const gzipOptions = { level: 1 };

/** Compresses a body whose length is not known before. */
export const compressor = (encoding: Encoding): BrotliCompress | Gzip =>
  encoding === 'br' ? createBrotliCompress(brotliFor(0)) : createGzip(gzipOptions);

/** Compresses a body; `done` is called at once for those of usual length. */
export const compress = (
  body: string | Uint8Array,
  encoding: Encoding,
  done: (error: Error | null, compressed: Uint8Array) => void,
): void => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const isShort = bytes.length <= maxSyncBytes;
  if (encoding === 'br') {
    if (isShort) done(null, brotliCompressSync(bytes, brotliFor(bytes.length)));
    else brotliCompress(bytes, brotliFor(bytes.length), done);
    return;
  }
  if (isShort) done(null, gzipSync(bytes, gzipOptions));
  else gzip(bytes, gzipOptions, done);
};
