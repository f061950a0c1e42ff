import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { parseUrl } from '../../platform/urls.js';
import type { CountPage } from '../analytics/port.js';
import { sendSiteFile, type ServedSite } from './sendSiteFile.js';
import { answerGone, answerMethodNotAllowed, answerMoved, answerNothing, elsewhere, siteHeaders } from './siteAnswers.js';
import type { SiteUrls } from './siteUrls.js';

/**
 * What is at the address with that name: the current deployment, or (with an id) a given one;
 * `archived` when nobody may visit it; the name of the address that it has now; null when there is
 * nothing to serve.
 */
export type FindSite = (
  name: string,
  deploymentId: string | null,
  /** Of a preview, instead of a deployment. */
  secret: string | null,
) => Promise<ServedSite | 'archived' | { readonly movedTo: string } | null>;

/**
 * What is at a hostname of a website's own, as `FindSite`, with the website's name; `nothing` when it is
 * not served here; null when it is no verified domain.
 */
export type FindSiteAtDomain = (
  hostname: string,
  deploymentId: string | null,
) => Promise<{ readonly site: ServedSite; readonly name: string } | 'archived' | 'nothing' | null>;

export interface SiteHandlers {
  /**
   * For the service's own origin, mounted at `/sites`: `/<project>/…`,
   * `/<project>/_deployments/<id>/…` and `/<project>/_previews/<secret>/…`. What belongs to no site goes to `next`.
   */
  readonly belowSites: RequestHandler;
  /**
   * For requests whose `Host` is a site's, by its name or a domain: `/…` and `/_deployments/<id>/…`. Nothing else is
   * answered at that origin; every other host goes to `next`.
   */
  readonly atSiteHost: RequestHandler;
  /** For the service's own origin: `/robots.txt`. */
  readonly robots: RequestHandler;
}

/** What of a deployment is asked for; `path` is null when the slash after its address is missing. */
interface Target {
  readonly project: string;
  readonly deploymentId: string | null;
  /** Of a preview. */
  readonly secret: string | null;
  readonly path: string | null;
}

/** Sites run what their authors put there; only plugins and other sites' frames are kept out. */
const policyFor = (portalOrigin: string): string =>
  [
    "default-src 'self' https: data: blob:",
    "script-src 'self' https: 'unsafe-inline'",
    "style-src 'self' https: 'unsafe-inline'",
    "connect-src 'self' https: wss:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self' https:",
    `frame-ancestors 'self' ${portalOrigin}`,
  ].join('; ');

/**
 * Without `allow-same-origin` a page has an opaque origin: it reaches nothing of the portal whose
 * address it shares. Every answer has it, since an image (SVG) is a page when opened by itself.
 */
const sandbox = 'sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads';

/** Nothing in these runs or is read by the page that shows them. */
const media = /\.(?:avif|gif|ico|jpe?g|png|svg|webp|mp3|mp4|ogg|wav|webm)$/i;

/** What a page runs or is styled by (`Sec-Fetch-Dest`). */
const runnable = /script|style|work|xslt|object|embed/;

/**
 * Serves the files that a deployment lists. `countPage` is called for pages of current deployments.
 */
export const createSiteHandlers = (
  find: FindSite,
  urls: SiteUrls,
  countPage?: CountPage,
  findAtDomain: FindSiteAtDomain = () => Promise.resolve(null),
): SiteHandlers => {
  /** Whether a page of the portal, of another site or of somebody else asks, as far as it says. */
  const isAskedByOthers = ({ headers: { referer, origin, host } }: Request, project: string): boolean => {
    if (origin !== undefined && origin !== 'null') return true;
    if (referer === undefined) return false;
    const from = parseUrl(referer);
    const site = new URL(urls.urlOf(project));
    return from === undefined || ![host, site.host].includes(from.host) || !from.pathname.startsWith(site.pathname);
  };

  /**
   * At an origin of its own, a site's files are for its own pages. Pages in the sandbox are of another
   * origin than their files for the browser, and say nothing of where they are; so what is kept from
   * others there is what says that it asks from elsewhere.
   */
  const protect = (request: Request, response: Response, { project, path }: Target, isSandboxed: boolean): void => {
    const policy = policyFor(urls.portalOrigin());
    response.set(siteHeaders).set('Content-Security-Policy', isSandboxed ? `${sandbox}; ${policy}` : policy);
    const mayBeOwn = isSandboxed && !isAskedByOthers(request, project);
    const isForAll = mayBeOwn || media.test(path ?? '');
    response.set('Cross-Origin-Resource-Policy', isForAll ? 'cross-origin' : 'same-origin');
    if (!isSandboxed) {
      response.set('Cross-Origin-Opener-Policy', 'same-origin-allow-popups');
      return;
    }
    // Browsers open no page that has both a sandbox and an opener policy.
    response.set('Vary', 'Origin, Referer, Sec-Fetch-Site');
    // Fonts, module scripts and `fetch`.
    if (mayBeOwn && request.headers.origin === 'null') response.set('Access-Control-Allow-Origin', 'null');
  };

  const answer = async (
    request: Request,
    response: Response,
    site: ServedSite,
    target: Target,
    asked: { readonly address: string; readonly query: string },
    isSandboxed: boolean,
  ): Promise<void> => {
    const { deploymentId, path } = target;
    const { project } = site;
    const { address, query } = asked;
    protect(request, response, target, isSandboxed);
    if (deploymentId !== null || site.isUnedited || site.isPreview === true) response.set('X-Robots-Tag', 'noindex');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answerMethodNotAllowed(response);
      return;
    }
    // A sandboxed page is never of the same origin: the portal's origin must run nothing of a site.
    const isForPortal = isSandboxed && request.headers['sec-fetch-site'] === 'same-origin';
    if (isForPortal && runnable.test(request.headers['sec-fetch-dest'] ?? '')) {
      response.status(403).type('text').send('Only pages of this site may run its files');
      return;
    }
    const file = path === '' || path?.endsWith('/') === true ? `${path}index.html` : path;
    if (file !== null && site.files.has(file)) {
      if (request.method === 'GET' && deploymentId === null && site.isPreview !== true && file.endsWith('.html')) {
        countPage?.({ project, path: `/${path ?? ''}`, query, headers: request.headers, peer: request.socket.remoteAddress });
      }
      await sendSiteFile(request, response, site, file, { status: 200, query, isSandboxed });
    } else if (file === null || site.files.has(`${file}/index.html`)) {
      // Relative, because a proxy may have taken the beginning of the path away.
      const last = address.slice(address.lastIndexOf('/') + 1);
      response.redirect(301, `./${last}/${suffix(query)}`);
    } else if (site.files.has('404.html')) {
      await sendSiteFile(request, response, site, '404.html', { status: 404, query, isSandboxed });
    } else {
      response.status(404).type('text').send('Not found');
    }
  };

  /** At an origin of the site's own. */
  const answerAtOrigin = async (
    request: Request,
    response: Response,
    site: ServedSite,
    target: Target,
    asked: { readonly address: string; readonly query: string },
  ): Promise<void> => {
    // Pages that were built when the site was below `/sites/` may link to files there.
    const former = `/sites/${target.project}/`;
    if (asked.address.startsWith(former) && !site.files.has(target.path ?? '')) {
      const rest = asked.address.slice(former.length).replace(/^\/+/, '');
      response.set(elsewhere).redirect(301, `/${rest}${suffix(asked.query)}`);
      return;
    }
    await answer(request, response, site, target, asked, false);
  };

  const answerAtDomain = async (
    request: Request,
    response: Response,
    next: NextFunction,
    asked: { readonly address: string; readonly query: string },
  ): Promise<void> => {
    const hostname = urls.otherHostname(request.headers.host ?? '');
    if (hostname === null) {
      next();
      return;
    }
    const target = parseAddress(`/-${asked.address}`);
    const found = await findAtDomain(hostname, target?.deploymentId ?? null);
    if (found === null) {
      next();
      return;
    }
    if (found === 'archived') {
      answerGone(response);
      return;
    }
    // A preview is at the address that it was made for.
    if (found === 'nothing' || target?.secret !== null) {
      answerNothing(response);
      return;
    }
    await answerAtOrigin(request, response, found.site, { ...target, project: found.name }, asked);
  };

  return {
    belowSites: async (request, response, next) => {
      const { address, query } = split(request.url);
      const target = parseAddress(address);
      const site = target === null ? null : await find(target.project, target.deploymentId, target.secret);
      if (target === null || site === null) {
        next();
        return;
      }
      if (site === 'archived') {
        answerGone(response);
        return;
      }
      const rest = address.slice(target.project.length + 2);
      if ('movedTo' in site) {
        answerMoved(request, response, `${urls.urlOf(site.movedTo)}${rest}${suffix(query)}`);
        return;
      }
      if (urls.haveOrigins) {
        response.set(elsewhere).redirect(301, `${urls.urlOf(target.project)}${rest}${suffix(query)}`);
        return;
      }
      await answer(request, response, site, target, { address, query }, true);
    },

    atSiteHost: async (request, response, next) => {
      const host = request.headers.host ?? '';
      const project = urls.nameAt(host);
      // The application takes `/v1` away, where only its own routes are.
      const { address, query } = split(request.originalUrl);
      if (project === null) {
        await answerAtDomain(request, response, next, { address, query });
        return;
      }
      const target = parseAddress(`/${project}${address}`);
      const site = target === null ? null : await find(target.project, target.deploymentId, target.secret);
      if (target === null || site === null) {
        answerNothing(response);
        return;
      }
      if (site === 'archived') {
        answerGone(response);
        return;
      }
      if ('movedTo' in site) {
        const others = host.slice(project.length);
        const origin = urls.haveOrigins ? urls.urlOf(site.movedTo).slice(0, -1) : `//${site.movedTo}${others}`;
        answerMoved(request, response, `${origin}${address}${suffix(query)}`);
        return;
      }
      await answerAtOrigin(request, response, site, target, { address, query });
    },

    robots: (request, response, next) => {
      if (request.originalUrl.split('?')[0] !== '/robots.txt') {
        next();
        return;
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        answerMethodNotAllowed(response);
        return;
      }
      // Auditing tools ask for it in the name of a page, and a page in the sandbox is of another origin.
      response.set({ ...elsewhere, 'Cross-Origin-Resource-Policy': 'cross-origin' });
      response.type('text').send('User-agent: *\nAllow: /sites/\nDisallow: /\n');
    },
  };
};

const split = (url: string): { readonly address: string; readonly query: string } => {
  const [address = '', query = ''] = url.split(/\?(.*)/s);
  return { address, query };
};

const suffix = (query: string): string => (query === '' ? '' : `?${query}`);

const parseAddress = (address: string): Target | null => {
  const parts = /^\/([^/]+)(?:\/_(?:deployments\/([^/]+)|previews\/([^/]+)))?(?:\/(.*))?$/s.exec(address);
  const [, project, deploymentId = null, secret = null, path] = parts ?? [];
  if (project === undefined) return null;
  try {
    return { project, deploymentId, secret, path: path === undefined ? null : decodeURIComponent(path) };
  } catch {
    return null; // A malformed percent-encoding.
  }
};
