import { extname } from 'node:path';
import type { Request, Response } from 'express';
import { acceptedEncoding, encodings } from '../../platform/encodings.js';
import { encodedName } from './encodings.js';
import { SHORT_AGE } from './siteAnswers.js';

/** A built site. */
export interface ServedSite {
  readonly project: string;
  /** Where its files are. */
  readonly folder: string;
  /** The hash of each file's content by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Where compressed forms of them are. */
  readonly compressedFolder: string;
  /** Their names (`encodedName`). */
  readonly compressed: ReadonlySet<string>;
  /** Whether it shows its template's own content, which search engines are to leave out. */
  readonly isUnedited: boolean;
  /** A draft, which ends: nobody counts it, and nothing keeps it. */
  readonly isPreview?: true;
}

/** In seconds. */
const YEAR = 31_536_000;

/**
 * Sends a file of the site, compressed if the browser takes that. Rejects when it cannot be read.
 * @param path one of `site.files`
 */
export const sendSiteFile = (
  request: Request,
  response: Response,
  site: ServedSite,
  path: string,
  { status, query, isSandboxed }: { readonly status: 200 | 404; readonly query: string; readonly isSandboxed: boolean },
): Promise<void> =>
  new Promise((resolve, reject) => {
    const hash = site.files.get(path) ?? '';
    const maxAge = query === `v=${hash}` ? `${String(YEAR)}, immutable` : String(SHORT_AGE);
    const published = path.endsWith('.html') ? 'no-cache' : `${isSandboxed ? 'private' : 'public'}, max-age=${maxAge}`;
    const cache = site.isPreview === true ? 'no-store' : published;
    const isCompressed = encodings.every((each) => site.compressed.has(encodedName(hash, each)));
    if (isCompressed) response.vary('Accept-Encoding').type(extname(path));
    const encoding = isCompressed ? acceptedEncoding(request.headers['accept-encoding'] ?? '') : null;
    if (encoding !== null) response.set('Content-Encoding', encoding);
    // Strong, so each form has its own: the bytes and their ranges differ.
    const etag = encoding === null ? `"${hash}"` : `"${hash}-${encoding}"`;
    response.status(status).set({ ETag: etag, 'Cache-Control': cache });
    const options = {
      root: encoding === null ? site.folder : site.compressedFolder,
      lastModified: false,
      cacheControl: false,
      acceptRanges: status === 200,
      dotfiles: 'allow' as const,
    };
    response.sendFile(encoding === null ? path : encodedName(hash, encoding), options, (error: Error | undefined) => {
      // A visitor who disconnects is not an error.
      if (error === undefined || response.headersSent || request.destroyed) resolve();
      else reject(error);
    });
  });
