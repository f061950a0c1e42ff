import type { Request, RequestHandler, Response } from 'express';
import type { CountPage } from '../analytics/port.js';

/** A built site: the folder with its files, and the hash of each file's content by path. */
export interface ServedSite {
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * The current deployment of a project, or (with an id) a given one; null when there is none to
 * serve.
 */
export type FindSite = (project: string, deploymentId: string | null) => Promise<ServedSite | null>;

/**
 * No site may run scripts or load from other origins: sites are customers' work, and share the
 * portal's origin while they have no domain of their own.
 */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "media-src 'self'",
    "manifest-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const oneYearSeconds = 31_536_000;
const fiveMinutesSeconds = 300;

/**
 * Serves sites below its mount path: `/<project>/…` and `/<project>/_deployments/<id>/…`. Only
 * files that a deployment lists are opened; other requests go to `next`. `countPage` is called for
 * pages of current deployments.
 */
export const createSiteHandler =
  (find: FindSite, countPage?: CountPage): RequestHandler =>
  async (request, response, next) => {
    const [address = '', query = ''] = request.url.split(/\?(.*)/s);
    const target = parseAddress(address);
    const site = target === null ? null : await find(target.project, target.deploymentId);
    if (target === null || site === null) {
      next();
      return;
    }
    response.set(headers);
    if (target.deploymentId !== null) response.set('X-Robots-Tag', 'noindex');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.set('Allow', 'GET, HEAD').status(405).type('text').send('Method not allowed');
      return;
    }
    const { path } = target;
    const file = path === '' || path?.endsWith('/') === true ? `${path}index.html` : path;
    if (file !== null && site.files.has(file)) {
      if (request.method === 'GET' && target.deploymentId === null && file.endsWith('.html')) {
        const { project } = target;
        countPage?.({ project, path: `/${path ?? ''}`, query, headers: request.headers, peer: request.socket.remoteAddress });
      }
      await send(request, response, site, file, 200, query);
    } else if (file === null || site.files.has(`${file}/index.html`)) {
      // Relative, because the handler does not know its mount path.
      const last = address.slice(address.lastIndexOf('/') + 1);
      response.redirect(301, `./${last}/${query === '' ? '' : `?${query}`}`);
    } else if (site.files.has('404.html')) {
      await send(request, response, site, '404.html', 404, query);
    } else {
      response.status(404).type('text').send('Not found');
    }
  };

/** `path` is the path within the site; null when the slash after the site's address is missing. */
const parseAddress = (address: string): { project: string; deploymentId: string | null; path: string | null } | null => {
  const parts = /^\/([^/]+)(?:\/_deployments\/([^/]+))?(?:\/(.*))?$/s.exec(address);
  const [, project, deploymentId, path] = parts ?? [];
  if (project === undefined) return null;
  try {
    return { project, deploymentId: deploymentId ?? null, path: path === undefined ? null : decodeURIComponent(path) };
  } catch {
    return null; // A malformed percent-encoding.
  }
};

const send = (
  request: Request,
  response: Response,
  site: ServedSite,
  path: string,
  status: 200 | 404,
  query: string,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const hash = site.files.get(path) ?? '';
    const isVersioned = query === `v=${hash}`;
    const cache = path.endsWith('.html')
      ? 'no-cache'
      : isVersioned
        ? `public, max-age=${String(oneYearSeconds)}, immutable`
        : `public, max-age=${String(fiveMinutesSeconds)}`;
    response.status(status).set({ ETag: `"${hash}"`, 'Cache-Control': cache });
    const options = {
      root: site.folder,
      lastModified: false,
      cacheControl: false,
      acceptRanges: status === 200,
      dotfiles: 'allow' as const,
    };
    response.sendFile(path, options, (error: Error | undefined) => {
      // A visitor who disconnects is not an error.
      if (error === undefined || response.headersSent || request.destroyed) resolve();
      else reject(error);
    });
  });
