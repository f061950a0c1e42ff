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
    // A range is of GET alone (RFC 9110, 14.2).
    if (request.method === 'HEAD') delete request.headers.range;
    const options = {
      root: encoding === null ? site.folder : site.compressedFolder,
      lastModified: false,
      cacheControl: false,
      acceptRanges: status === 200,
      dotfiles: 'allow' as const,
    };
    response.sendFile(encoding === null ? path : encodedName(hash, encoding), options, (error: Error | undefined) => {
      // A visitor who disconnects is not an error.
      const isDone = error === undefined || response.headersSent || request.destroyed;
      if (isDone || answerRefusal(response, status, error)) resolve();
      else reject(error);
    });
  });

/** What `send` refuses by its status: that is no fault of the service. 404: the deployment is gone meanwhile. */
const refusals: ReadonlyMap<number, string> = new Map([
  [404, 'Not found'],
  [412, 'The file is not the one that was asked for'],
  [416, 'The file has no such bytes'],
]);

/**
 * Returns whether it has answered.
 * @param status of the file: a condition says nothing of a 404 page (RFC 9110, 13.2.1)
 */
const answerRefusal = (response: Response, status: 200 | 404, error: Error): boolean => {
  const { status: refused = 500, headers = {} } = error as { status?: number; headers?: Record<string, string> };
  const answered = status === 404 && refused === 412 ? 404 : refused;
  const words = refusals.get(answered);
  if (words === undefined) return false;
  for (const header of ['Content-Encoding', 'ETag']) response.removeHeader(header);
  response
    .set({ ...headers, 'Cache-Control': 'no-store' })
    .status(answered)
    .type('text')
    .send(words);
  return true;
};
