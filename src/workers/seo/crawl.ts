import type { Robot } from 'robots-parser';
import { ProviderFault } from '../../integrations/fault.js';
import { parseUrl } from '../../platform/urls.js';
import { userAgent, type Fetched, type FetchPage } from './fetchPage.js';
import { readPage, type PageFacts } from './page.js';

/** A website as a search engine would go through it. */
export interface Site {
  /** Where the home page was found. */
  readonly url: string;
  /** What can be found, the home page first. */
  readonly pages: readonly PageFacts[];
  /** Whether all that was found was looked at. */
  readonly complete: boolean;
  /** Links within the site that lead nowhere, and the page that each was first seen on. */
  readonly brokenLinks: readonly { readonly from: string; readonly to: string }[];
  readonly robots: { readonly found: boolean; readonly shutsOut: boolean };
  readonly sitemap: { readonly found: boolean; readonly valid: boolean; readonly missing: readonly string[] };
}

const MOST_PAGES = 25;
/** Pages, and whatever else is asked for: files that turn out to be no pages, dead links. */
const MOST_REQUESTS = 60;
const MOST_IN_SITEMAP = 1_000;
/** In characters. What a rule of robots.txt costs grows with the address, and there is one look at all rules for each address. */
const LONGEST_ADDRESS = 1_000;
const MOST_RULES = 5_000;
const LONGEST_ROBOTS = 512_000;

const isHtml = ({ headers }: Fetched): boolean => /html/i.test(headers['content-type'] ?? '');

/**
 * Goes through the pages of a website from its home page and its sitemap on, one at a time, as far as its robots.txt lets robots go.
 * When `enough` is aborted, it ends with what it has.
 * @throws ProviderFault when the home page cannot be had
 */
export const crawl = async (start: string, fetchPage: FetchPage, enough: AbortSignal): Promise<Site> => {
  const isEnough = (): boolean => enough.aborted;
  const home = await fetchPage(start, enough);
  if (home.status >= 400 || !isHtml(home)) {
    const what = home.status >= 400 ? `answers with status ${String(home.status)}` : 'is no HTML page';
    // A server that has trouble may be well again soon.
    throw new ProviderFault({ provider: 'website', message: `${home.url} ${what}`, transient: home.status >= 500 });
  }
  const root = new URL('.', home.url);
  const within = (address: string): boolean => address.startsWith(root.href);

  /** What is only asked for along the way may be missing. */
  const tryFetch = async (address: string): Promise<Fetched | null> => {
    try {
      return await fetchPage(address, enough);
    } catch (error) {
      if (error instanceof ProviderFault) return null;
      throw error;
    }
  };

  const robots = await readRobots(root, await tryFetch(new URL('robots.txt', root).href));
  const sitemap = await readSitemap(robots.sitemap ?? new URL('sitemap.xml', root).href, tryFetch);

  const pages: PageFacts[] = [];
  const brokenLinks: { from: string; to: string }[] = [];
  const missing: string[] = [];
  const waiting = new Map<string, string>();
  const seen = new Set<string>([home.url]);
  const find = (addresses: readonly string[], from: string): void => {
    for (const address of addresses) {
      if (address.length > LONGEST_ADDRESS || seen.has(address) || !within(address)) continue;
      seen.add(address);
      waiting.set(address, from);
    }
  };
  const add = async (page: Fetched): Promise<void> => {
    const facts = await readPage(page.text, page.url, String(page.headers['x-robots-tag'] ?? ''));
    pages.push(facts);
    find(facts.links, page.url);
  };

  await add(home);
  find(sitemap.addresses, sitemap.url);
  for (let requests = 0; requests < MOST_REQUESTS && pages.length < MOST_PAGES && !isEnough(); requests += 1) {
    const [next] = waiting;
    if (next === undefined) break;
    const [address, from] = next;
    waiting.delete(address);
    if (!robots.allows(address)) continue;
    const page = await tryFetch(address);
    if (isEnough()) break;
    if (page === null || page.status >= 400) {
      if (from === sitemap.url) missing.push(address);
      else brokenLinks.push({ from, to: address });
    } else if (isHtml(page) && within(page.url) && !pages.some(({ url }) => url === page.url)) {
      seen.add(page.url);
      waiting.delete(page.url);
      await add(page);
    }
  }
  return {
    url: home.url,
    pages,
    complete: waiting.size === 0 && !isEnough(),
    brokenLinks,
    robots: { found: robots.found, shutsOut: !robots.allowsEverybody },
    sitemap: { found: sitemap.found, valid: sitemap.valid, missing },
  };
};

interface Robots {
  readonly found: boolean;
  readonly allows: (address: string) => boolean;
  /** Whether robots in general may see the home page. */
  readonly allowsEverybody: boolean;
  readonly sitemap: string | undefined;
}

const robotsText = (file: Fetched | null): string | null =>
  file?.status === 200 && /^text\/plain/i.test(file.headers['content-type'] ?? '') ? file.text : null;

/** A site below a path is read as it will be once it stands at the root of its own domain. */
const readRobots = async (root: URL, file: Fetched | null): Promise<Robots> => {
  const text = robotsText(file);
  if (text === null) return { found: false, allows: () => true, allowsEverybody: true, sitemap: undefined };
  const { default: parse } = (await import('robots-parser')) as unknown as { default: (url: string, text: string) => Robot };
  const rules = parse(new URL('/robots.txt', root).href, text.slice(0, LONGEST_ROBOTS).split('\n', MOST_RULES).join('\n'));
  const isAllowed = (address: string, agent: string): boolean =>
    rules.isAllowed(new URL(`/${address.slice(root.href.length)}`, root).href, agent) !== false;
  const [sitemap] = rules.getSitemaps();
  return {
    found: true,
    allows: (address) => isAllowed(address, userAgent),
    allowsEverybody: isAllowed(root.href, 'Googlebot') && isAllowed(root.href, '*'),
    sitemap: sitemap === undefined ? undefined : parseUrl(sitemap, root.href)?.href,
  };
};

interface Sitemap {
  readonly url: string;
  readonly found: boolean;
  readonly valid: boolean;
  readonly addresses: readonly string[];
}

/** https://www.sitemaps.org/protocol.html: addresses, or further sitemaps, of which the first is read. */
const readSitemap = async (url: string, tryFetch: (url: string) => Promise<Fetched | null>, depth = 0): Promise<Sitemap> => {
  const file = await tryFetch(url);
  if (file?.status !== 200) return { url, found: false, valid: false, addresses: [] };
  const { XMLParser } = await import('fast-xml-parser');
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false });
  let lists: { readonly urlset?: unknown; readonly sitemapindex?: unknown };
  try {
    lists = parser.parse(file.text) as typeof lists;
  } catch {
    return { url, found: true, valid: false, addresses: [] }; // Not XML.
  }
  const { urlset, sitemapindex } = lists;
  const [further] = locationsIn(sitemapindex, 'sitemap');
  if (further !== undefined && depth === 0) return { ...(await readSitemap(further, tryFetch, 1)), url };
  const addresses = locationsIn(urlset, 'url');
  return { url, found: true, valid: addresses.length > 0, addresses };
};

const locationsIn = (list: unknown, name: string): string[] => {
  if (typeof list !== 'object' || list === null) return [];
  const entries = [(list as Readonly<Record<string, unknown>>)[name]].flat() as readonly unknown[];
  return entries.slice(0, MOST_IN_SITEMAP).flatMap((entry) => {
    const location = typeof entry === 'object' && entry !== null && 'loc' in entry ? entry.loc : undefined;
    const address = typeof location === 'string' ? parseUrl(location) : undefined;
    return address === undefined ? [] : [address.href];
  });
};
