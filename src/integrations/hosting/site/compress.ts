import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { encodings } from '../../../platform/encodings.js';
import { encodedName } from '../encodings.js';
import { contentHash, type SiteFiles } from './build.js';

const compressible =
  /\.(?:html?|css|m?js|json|webmanifest|map|xml|xsl|atom|rss|svg|txt|md|csv|vtt|ics|geojson|wasm|ico|ttf|otf|eot|bmp)$/i;

const minBytes = 1_024;
/** A build of half a minute has time for that on any machine: what is beyond is served as it is. */
const maxBytesInAll = 8 * 1024 * 1024;
/** 10 MB a second; the highest, 11, saves another 8 % and takes twenty times as long. */
const brotliQuality = 9;

/**
 * As the logarithm to base 2. The memory of a window is taken anew for each file: the default, of 4 MiB, takes twenty times
 * as long as compressing a page.
 */
const windowFor = (bytes: number): number =>
  Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes)) + 1));

/** The compressed forms of a site's files, by their names; none of a file that would not be smaller. */
export const compressSite = (files: SiteFiles): ReadonlyMap<string, Uint8Array> => {
  const compressed = new Map<string, Uint8Array>();
  const done = new Set<string>();
  let bytes = 0;
  for (const [path, content] of files) {
    if (!compressible.test(path) || content.length < minBytes || bytes + content.length > maxBytesInAll) continue;
    const hash = contentHash(content);
    if (done.has(hash)) continue;
    done.add(hash);
    bytes += content.length;
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      [constants.BROTLI_PARAM_LGWIN]: windowFor(content.length),
    };
    const forms = { br: brotliCompressSync(content, { params }), gzip: gzipSync(content) };
    if (encodings.some((encoding) => forms[encoding].length >= content.length)) continue;
    for (const encoding of encodings) compressed.set(encodedName(hash, encoding), forms[encoding]);
  }
  return compressed;
};
