import { senderOf, type TrustsProxy } from '../../platform/publicAddress.js';
import { parseUrl } from '../../platform/urls.js';
import type { PageRequest } from './port.js';

/** The part of a page request that is counted. */
export interface PageView {
  readonly project: string;
  readonly page: string;
  /** Absent for a visitor who came from another page of the same site. */
  readonly source?: string;
  /** Address and browser; hashed with a salt, never stored. */
  readonly visitor: string;
}

/**
 * The source when there is no referrer: the address was typed or bookmarked, or the browser sent
 * none.
 */
const direct = 'Direct / None';

const maxPageLength = 300;
const maxSourceLength = 100;
const maxAgentLength = 512;

/**
 * Robots whose user agent begins like a browser's and names the program later. Other robots do not
 * match `browser` at all.
 */
const robots =
  /bot|crawl|spider|slurp|scan|monitor|preview|fetch|headless|lighthouse|pagespeed|curl|wget|python|java\/|go-http|okhttp|axios|phantom|selenium|puppeteer|playwright|uptime|pingdom|archive|facebookexternalhit|embedly|validator|https?:\/\//i;
const browser = /^(?:Mozilla|Opera)\/\d/;

const isRobot = (agent: string): boolean => !browser.test(agent) || robots.test(agent);

/** Prefetched pages may never be viewed. */
const isPrefetch = (purpose: string): boolean => /prefetch|prerender|preview/i.test(purpose);

/** The page view of a request; null for robots and prefetches. */
export const pageViewOf = (
  { project, path, query, headers, peer = '' }: PageRequest,
  trustsProxy?: TrustsProxy,
): PageView | null => {
  const header = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  };
  const agent = header('user-agent').slice(0, maxAgentLength);
  if (isRobot(agent) || isPrefetch(`${header('sec-purpose')} ${header('purpose')} ${header('x-moz')}`)) return null;
  const source = sourceOf(query, header('referer'), header('host'));
  return {
    project,
    page: path.slice(0, maxPageLength),
    ...(source !== undefined && { source }),
    visitor: `${senderOf(peer, header('x-forwarded-for'), trustsProxy)}\n${agent}`,
  };
};

/** The source named in the link's query, else the referring site; undefined for the same site. */
const sourceOf = (query: string, referrer: string, host: string): string | undefined => {
  const parameters = new URLSearchParams(query);
  const named = ['utm_source', 'source', 'ref'].map((name) => parameters.get(name)?.trim() ?? '').find((text) => text !== '');
  if (named !== undefined) return named.slice(0, maxSourceLength);
  const from = parseUrl(referrer);
  if (from?.protocol !== 'http:' && from?.protocol !== 'https:') return direct;
  return from.host === host ? undefined : from.hostname.replace(/^www\./, '').slice(0, maxSourceLength);
};
