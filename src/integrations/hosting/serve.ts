import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { CountPage } from '../analytics/port.js';
import { sendSiteFile, type ServedSite } from './sendSiteFile.js';
import { answerGone, answerMethodNotAllowed, answerMoved, answerNothing, elsewhere } from './siteAnswers.js';
import { protect, wouldRunInPortal } from './siteProtection.js';
import { parseSiteRequest, suffix, type SiteRequest } from './siteRequest.js';
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
   * For the service's own origin, mounted at `/sites`: `/<name>/…`,
   * `/<name>/_deployments/<id>/…` and `/<name>/_previews/<secret>/…`. What belongs to no site goes to `next`.
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

/** Serves the files that a deployment lists. */
export const createSiteHandlers = ({
  find,
  findAtDomain,
  urls,
  countPage,
}: {
  readonly find: FindSite;
  readonly findAtDomain: FindSiteAtDomain;
  readonly urls: SiteUrls;
  /** Called for pages of current deployments. */
  readonly countPage?: CountPage | undefined;
}): SiteHandlers => {
  const answer = async (
    request: Request,
    response: Response,
    site: ServedSite,
    asked: SiteRequest,
    isSandboxed: boolean,
  ): Promise<void> => {
    const { deploymentId, path, address, query } = asked;
    protect(request, response, asked, urls, isSandboxed);
    if (deploymentId !== null || site.isUnedited || site.isPreview === true) response.set('X-Robots-Tag', 'noindex');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answerMethodNotAllowed(response);
      return;
    }
    if (isSandboxed && wouldRunInPortal(request)) {
      response.status(403).type('text').send('Only pages of this site may run its files');
      return;
    }
    const file = path === '' || path?.endsWith('/') === true ? `${path}index.html` : path;
    if (file !== null && site.files.has(file)) {
      if (request.method === 'GET' && deploymentId === null && site.isPreview !== true && file.endsWith('.html')) {
        const { headers, socket } = request;
        countPage?.({ project: site.project, path: `/${path ?? ''}`, query, headers, peer: socket.remoteAddress });
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
  const answerAtOrigin = async (request: Request, response: Response, site: ServedSite, asked: SiteRequest): Promise<void> => {
    // Pages that were built when the site was below `/sites/` may link to files there.
    const former = `/sites/${asked.name}/`;
    if (asked.address.startsWith(former) && !site.files.has(asked.path ?? '')) {
      const rest = asked.address.slice(former.length).replace(/^\/+/, '');
      response.set(elsewhere).redirect(301, `/${rest}${suffix(asked.query)}`);
      return;
    }
    await answer(request, response, site, asked, false);
  };

  const answerAtDomain = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const hostname = urls.otherHostname(request.headers.host ?? '');
    if (hostname === null) {
      next();
      return;
    }
    // Its name is known once the domain is found.
    const asked = parseSiteRequest(request.originalUrl, '-');
    const found = await findAtDomain(hostname, asked?.deploymentId ?? null);
    if (found === null) {
      next();
      return;
    }
    if (found === 'archived') {
      answerGone(response);
      return;
    }
    // A preview is at the address that it was made for.
    if (found === 'nothing' || asked?.secret !== null) {
      answerNothing(response);
      return;
    }
    await answerAtOrigin(request, response, found.site, { ...asked, name: found.name });
  };

  return {
    belowSites: async (request, response, next) => {
      const asked = parseSiteRequest(request.url);
      const site = asked === null ? null : await find(asked.name, asked.deploymentId, asked.secret);
      if (asked === null || site === null) {
        next();
        return;
      }
      if (site === 'archived') {
        answerGone(response);
        return;
      }
      const rest = `${asked.address.slice(asked.name.length + 2)}${suffix(asked.query)}`;
      if ('movedTo' in site) {
        answerMoved(request, response, `${urls.urlOf(site.movedTo)}${rest}`);
        return;
      }
      if (urls.haveOrigins) {
        response.set(elsewhere).redirect(301, `${urls.urlOf(asked.name)}${rest}`);
        return;
      }
      await answer(request, response, site, asked, true);
    },

    atSiteHost: async (request, response, next) => {
      const host = request.headers.host ?? '';
      const name = urls.nameAt(host);
      if (name === null) {
        await answerAtDomain(request, response, next);
        return;
      }
      // `originalUrl`, because the application takes `/v1` away, where only its own routes are.
      const asked = parseSiteRequest(request.originalUrl, name);
      const site = asked === null ? null : await find(asked.name, asked.deploymentId, asked.secret);
      if (asked === null || site === null) {
        answerNothing(response);
        return;
      }
      if (site === 'archived') {
        answerGone(response);
        return;
      }
      if ('movedTo' in site) {
        const origin = urls.haveOrigins ? urls.urlOf(site.movedTo).slice(0, -1) : `//${site.movedTo}${host.slice(name.length)}`;
        answerMoved(request, response, `${origin}${asked.address}${suffix(asked.query)}`);
        return;
      }
      await answerAtOrigin(request, response, site, asked);
    },

    robots,
  };
};

const robots: RequestHandler = (request, response, next) => {
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
};
