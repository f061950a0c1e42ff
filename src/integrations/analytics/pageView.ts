import { senderOf } from '../../platform/publicAddress.js';
import { parseUrl } from '../../platform/urls.js';
import type { PageRequest } from './port.js';

/** What is counted of a request for a page. */
export interface PageView {
  readonly project: string;
  readonly page: string;
  /** Absent for those who come from another page of the site. */
  readonly source?: string;
  /** Tells visitors apart, with a salt: address and browser. Never stored. */
  readonly visitor: string;
}

/** Who typed the address, used a bookmark, or whose browser does not tell. */
const direct = 'Direct / None';

const longestPage = 300;
const longestSource = 100;
const longestAgent = 512;

/**
 * Programs that call themselves a browser and say what they are beside it. Others do not begin as every browser does.
 */
const robots =
  /bot|crawl|spider|slurp|scan|monitor|preview|fetch|headless|lighthouse|pagespeed|curl|wget|python|java\/|go-http|okhttp|axios|phantom|selenium|puppeteer|playwright|uptime|pingdom|archive|facebookexternalhit|embedly|validator|https?:\/\//i;
const browser = /^(?:Mozilla|Opera)\/\d/;

const isRobot = (agent: string): boolean => !browser.test(agent) || robots.test(agent);

/** Pages that a browser gets ahead of time may never be looked at. */
const isAheadOfTime = (purpose: string): boolean => /prefetch|prerender|preview/i.test(purpose);

/** The view that a request counts as; null for robots, and for pages that are not being looked at. */
export const pageViewOf = ({ project, path, query, headers, peer = '' }: PageRequest): PageView | null => {
  const header = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  };
  const agent = header('user-agent').slice(0, longestAgent);
  if (isRobot(agent) || isAheadOfTime(`${header('sec-purpose')} ${header('purpose')} ${header('x-moz')}`)) return null;
  const source = sourceOf(query, header('referer'), header('host'));
  return {
    project,
    page: path.slice(0, longestPage),
    ...(source !== undefined && { source }),
    visitor: `${senderOf(peer, header('x-forwarded-for'))}\n${agent}`,
  };
};

/** What the link says of itself, else the site that it stood on. */
const sourceOf = (query: string, referrer: string, host: string): string | undefined => {
  const parameters = new URLSearchParams(query);
  const named = ['utm_source', 'source', 'ref'].map((name) => parameters.get(name)?.trim() ?? '').find((text) => text !== '');
  if (named !== undefined) return named.slice(0, longestSource);
  const from = parseUrl(referrer);
  if (from?.protocol !== 'http:' && from?.protocol !== 'https:') return direct;
  return from.host === host ? undefined : from.hostname.replace(/^www\./, '').slice(0, longestSource);
};
