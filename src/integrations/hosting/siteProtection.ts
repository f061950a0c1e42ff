import type { Request, Response } from 'express';
import { parseUrl } from '../../platform/urls.js';
import { siteHeaders } from './siteAnswers.js';
import type { SiteRequest } from './siteRequest.js';
import type { SiteUrls } from './siteUrls.js';

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
 * Sets the headers that guard what is answered.
 *
 * At an origin of its own, a site's files are for its own pages. Pages in the sandbox are of another
 * origin than their files for the browser, and say nothing of where they are; so what is kept from
 * others there is what says that it asks from elsewhere.
 */
export const protect = (
  request: Request,
  response: Response,
  { name, path }: SiteRequest,
  urls: SiteUrls,
  isSandboxed: boolean,
): void => {
  const policy = policyFor(urls.portalOrigin());
  response.set(siteHeaders).set('Content-Security-Policy', isSandboxed ? `${sandbox}; ${policy}` : policy);
  const mayBeOwn = isSandboxed && !isAskedByOthers(request, urls.urlOf(name));
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

/**
 * Whether the portal asks, to run the file of a sandboxed site: no page of such a site is of the same
 * origin as its files.
 */
export const wouldRunInPortal = ({ headers }: Request): boolean =>
  headers['sec-fetch-site'] === 'same-origin' && runnable.test(headers['sec-fetch-dest'] ?? '');

/** Whether a page of the portal, of another site or of somebody else asks, as far as it says. */
const isAskedByOthers = ({ headers: { referer, origin, host } }: Request, siteUrl: string): boolean => {
  if (origin !== undefined && origin !== 'null') return true;
  if (referer === undefined) return false;
  const from = parseUrl(referer);
  const site = new URL(siteUrl);
  return from === undefined || ![host, site.host].includes(from.host) || !from.pathname.startsWith(site.pathname);
};
