import type { Robot } from 'robots-parser';
import { ProviderFault } from '../../integrations/fault.js';
import { nextTurn } from '../../platform/eventLoop.js';
import { parseUrl } from '../../platform/urls.js';
import { userAgent, type Fetched, type FetchPage } from './fetchPage.js';
import { readPage, type PageFacts } from './page.js';

/** A website, as a search engine crawls it. */
export interface Site {
  /** The address of the home page, after redirects. */
  readonly url: string;
  /** The crawled pages, the home page first. */
  readonly pages: readonly PageFacts[];
  /** Whether every address that was found was crawled. */
  readonly complete: boolean;
  /** Broken links within the site, each with the page where it was found first. */
  readonly brokenLinks: readonly { readonly from: string; readonly to: string }[];
  readonly robots: { readonly found: boolean; readonly blocksHome: boolean };
  readonly sitemap: { readonly found: boolean; readonly valid: boolean; readonly missing: readonly string[] };
}

const MAX_PAGES = 25;
/** Requests for pages, including broken links and files that are not pages. */
const MAX_REQUESTS = 60;
/** Of addresses that were found: matching one against robots.txt costs processor time. */
const MAX_ADDRESSES = 1_000;
const MAX_SITEMAP_ENTRIES = 1_000;
/** In characters: the parser works without a pause, at a hundred thousand a second at worst. */
const MAX_SITEMAP_LENGTH = 200_000;
/**
 * In characters. Each address is matched against all rules of robots.txt, at a cost that grows with
 * its length.
 */
const MAX_ADDRESS_LENGTH = 1_000;
const MAX_ROBOTS_RULES = 5_000;
const MAX_ROBOTS_LENGTH = 512_000;

const isHtml = ({ headers }: Fetched): boolean => /html/i.test(headers['content-type'] ?? '');

/**
 * Crawls a website from its home page and its sitemap, one page at a time, as far as its robots.txt
 * allows. When `stopSignal` is aborted, it returns what it has found so far.
 * @throws ProviderFault when the home page cannot be loaded
 */
export const crawl = async (start: string, fetchPage: FetchPage, stopSignal: AbortSignal): Promise<Site> => {
  const isStopped = (): boolean => stopSignal.aborted;
  const home = await fetchPage(start, stopSignal);
  if (home.status >= 400 || !isHtml(home)) {
    const what = home.status >= 400 ? `answers with status ${String(home.status)}` : 'is no HTML page';
    // A 5xx is worth another attempt.
    throw new ProviderFault({ provider: 'website', message: `${home.url} ${what}`, transient: home.status >= 500 });
  }
  const root = new URL('.', home.url);
  const within = (address: string): boolean => address.startsWith(root.href);

  /** Null instead of a fault: only the home page is required. */
  const fetchOrNull = async (address: string): Promise<Fetched | null> => {
    try {
      return await fetchPage(address, stopSignal);
    } catch (error) {
      if (error instanceof ProviderFault) return null;
      throw error;
    }
  };

  const robots = await readRobots(root, await fetchOrNull(new URL('robots.txt', root).href));
  const sitemap = await readSitemap(robots.sitemap ?? new URL('sitemap.xml', root).href, fetchOrNull);

  const pages: PageFacts[] = [];
  const brokenLinks: { from: string; to: string }[] = [];
  const missing: string[] = [];
  const queue = new Map<string, string>();
  const seen = new Set<string>([home.url]);
  const enqueue = (addresses: readonly string[], from: string): void => {
    for (const address of addresses) {
      if (address.length > MAX_ADDRESS_LENGTH || seen.has(address) || !within(address)) continue;
      seen.add(address);
      queue.set(address, from);
    }
  };
  const add = async (page: Fetched): Promise<void> => {
    const facts = await readPage(page.text, page.url, page.robotsRules);
    pages.push(facts);
    enqueue(facts.links, page.url);
  };

  await add(home);
  enqueue(sitemap.addresses, sitemap.url);
  let requests = 0;
  for (let looked = 0; looked < MAX_ADDRESSES; looked += 1) {
    const [next] = queue;
    if (next === undefined || requests >= MAX_REQUESTS || pages.length >= MAX_PAGES || isStopped()) break;
    const [address, from] = next;
    queue.delete(address);
    if (!robots.allows(address)) {
      await nextTurn();
      continue;
    }
    requests += 1;
    const page = await fetchOrNull(address);
    if (isStopped()) break;
    if (page === null || page.status >= 400) {
      if (from === sitemap.url) missing.push(address);
      else brokenLinks.push({ from, to: address });
    } else if (isHtml(page) && within(page.url) && !pages.some(({ url }) => url === page.url)) {
      seen.add(page.url);
      queue.delete(page.url);
      await add(page);
    }
  }
  return {
    url: home.url,
    pages,
    complete: queue.size === 0 && !isStopped(),
    brokenLinks,
    robots: { found: robots.found, blocksHome: !robots.allowsEverybody },
    sitemap: { found: sitemap.found, valid: sitemap.valid, missing },
  };
};

interface Robots {
  readonly found: boolean;
  readonly allows: (address: string) => boolean;
  /** Whether search engines in general may crawl the home page. */
  readonly allowsEverybody: boolean;
  readonly sitemap: string | undefined;
}

const robotsText = (file: Fetched | null): string | null =>
  file?.status === 200 && /^text\/plain/i.test(file.headers['content-type'] ?? '') ? file.text : null;

/**
 * Treats the site's path as the root of a domain, which it will be once the site has its own
 * domain.
 */
const readRobots = async (root: URL, file: Fetched | null): Promise<Robots> => {
  const text = robotsText(file);
  if (text === null) return { found: false, allows: () => true, allowsEverybody: true, sitemap: undefined };
  const { default: parse } = (await import('robots-parser')) as unknown as { default: (url: string, text: string) => Robot };
  const rules = parse(
    new URL('/robots.txt', root).href,
    text.slice(0, MAX_ROBOTS_LENGTH).split('\n', MAX_ROBOTS_RULES).join('\n'),
  );
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

/**
 * Reads a sitemap (https://www.sitemaps.org/protocol.html), or the first one that a sitemap index
 * lists.
 */
const readSitemap = async (url: string, fetchOrNull: (url: string) => Promise<Fetched | null>, depth = 0): Promise<Sitemap> => {
  const file = await fetchOrNull(url);
  if (file?.status !== 200) return { url, found: false, valid: false, addresses: [] };
  const { XMLParser } = await import('fast-xml-parser');
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false });
  let lists: { readonly urlset?: unknown; readonly sitemapindex?: unknown };
  try {
    lists = parser.parse(beginningOf(file.text)) as typeof lists;
  } catch {
    return { url, found: true, valid: false, addresses: [] }; // Not XML.
  }
  const { urlset, sitemapindex } = lists;
  const [further] = locationsIn(sitemapindex, 'sitemap');
  if (further !== undefined && depth === 0) return { ...(await readSitemap(further, fetchOrNull, 1)), url };
  const addresses = locationsIn(urlset, 'url');
  return { url, found: true, valid: addresses.length > 0, addresses };
};

/** Whole entries only: the rest of a long sitemap is left out. */
const beginningOf = (sitemap: string): string => {
  if (sitemap.length <= MAX_SITEMAP_LENGTH) return sitemap;
  const beginning = sitemap.slice(0, MAX_SITEMAP_LENGTH);
  const [entry, list] = beginning.includes('</url>') ? ['</url>', '</urlset>'] : ['</sitemap>', '</sitemapindex>'];
  return `${beginning.slice(0, beginning.lastIndexOf(entry) + entry.length)}${list}`;
};

const locationsIn = (list: unknown, name: string): string[] => {
  if (typeof list !== 'object' || list === null) return [];
  const entries = [(list as Readonly<Record<string, unknown>>)[name]].flat() as readonly unknown[];
  return entries.slice(0, MAX_SITEMAP_ENTRIES).flatMap((entry) => {
    const location = typeof entry === 'object' && entry !== null && 'loc' in entry ? entry.loc : undefined;
    const address = typeof location === 'string' ? parseUrl(location) : undefined;
    return address === undefined ? [] : [address.href];
  });
};
