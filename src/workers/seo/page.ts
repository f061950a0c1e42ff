import type { CheerioAPI } from 'cheerio';
import { parseUrl } from '../../platform/urls.js';
import { ownTextOf, parsePage, textsIn, visibleTextOf } from './parsePage.js';

/** The facts about a page that matter to search engines. */
export interface PageFacts {
  readonly url: string;
  readonly titles: readonly string[];
  readonly descriptions: readonly string[];
  /** The levels of the headings in order, 1 to 6. */
  readonly headingLevels: readonly number[];
  readonly headings: readonly string[];
  readonly imagesWithoutAlternative: number;
  /** Unresolved, as written in the page. */
  readonly canonicals: readonly string[];
  readonly language: string | undefined;
  /** Versions in other languages. */
  readonly alternates: readonly { readonly language: string; readonly href: string }[];
  /** Whether the page asks search engines not to list it. */
  readonly noindex: boolean;
  /** Distinct absolute addresses without fragments. */
  readonly links: readonly string[];
  readonly linksWithoutText: number;
  /** The types of the structured data. Unreadable data counts in `invalidStructuredData`. */
  readonly structuredData: readonly string[];
  readonly invalidStructuredData: number;
  /** Example addresses, example telephone numbers and filler text, each once. */
  readonly placeholders: readonly string[];
}

const MAX_LINKS = 500;

/** Reads a page within the limits of `parsePage`; `robotsRules` are those of its headers. */
export const readPage = async (html: string, url: string, robotsRules: readonly string[]): Promise<PageFacts> =>
  factsOf(await parsePage(html), url, robotsRules);

const clean = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const factsOf = ($: CheerioAPI, url: string, robotsRules: readonly string[]): PageFacts => {
  const attributes = (selector: string, name: string): string[] =>
    $(selector)
      .toArray()
      .flatMap((element) => $(element).attr(name) ?? []);
  const texts = (selector: string): string[] =>
    $(selector)
      .toArray()
      .map((element) => clean($(element).text()));
  const levels = $('h1, h2, h3, h4, h5, h6').toArray();
  const robots = [...robotsRules, ...attributes('meta[name="robots" i], meta[name="googlebot" i]', 'content')];
  const data = structuredDataOf($('script[type="application/ld+json"]').toArray().map(ownTextOf));
  return {
    url,
    // Only in the head: an inline SVG may have its own title.
    titles: texts('head > title'),
    descriptions: attributes('meta[name="description" i]', 'content').map(clean),
    headingLevels: levels.map(({ tagName }) => Number(tagName.slice(1))),
    headings: $('h1, h2')
      .toArray()
      .map(visibleTextOf)
      .filter((text) => text !== ''),
    imagesWithoutAlternative: $('img:not([alt]):not([role="presentation"]):not([aria-hidden="true"])').length,
    canonicals: attributes('link[rel="canonical" i]', 'href').map(clean),
    language: $('html').attr('lang')?.trim(),
    alternates: $('link[rel="alternate" i][hreflang]')
      .toArray()
      .map((element) => ({ language: $(element).attr('hreflang') ?? '', href: $(element).attr('href') ?? '' })),
    noindex: robots.some(asksNoindex),
    links: addressesOf(attributes('a[href]', 'href'), baseOf(attributes('base[href]', 'href')[0], url)),
    linksWithoutText: $('a[href]')
      .toArray()
      .filter((element) => visibleTextOf(element) === '' && clean($(element).attr('title') ?? '') === '').length,
    structuredData: [...data.types, ...attributes('[itemscope][itemtype]', 'itemtype')],
    invalidStructuredData: data.invalid,
    placeholders: placeholdersIn([...$('body').toArray().flatMap(textsIn), ...attributes('a[href]', 'href')]),
  };
};

/** Rules with a value; any other name before a colon is that of a crawler, unless it is a part of a time. */
const valuedRule = /^(?:max-(?:snippet|image-preview|video-preview)|unavailable_after|(?:gmt|utc)?[+-]?\d+)$/;

/**
 * Whether rules for crawlers (https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag) keep
 * the page out of a list. After the name of another crawler they are not for everybody.
 */
const asksNoindex = (rules: string): boolean => {
  let isForUs = true;
  // White space first: a pattern with it on both sides takes a square of its length.
  const parts = clean(rules.toLowerCase())
    .replaceAll(/ ?: ?/g, ':')
    .split(/[,; ]+/);
  for (const part of parts) {
    const [rule = '', name] = part.split(':', 2).reverse();
    if (name !== undefined && valuedRule.test(name)) continue;
    if (name !== undefined) isForUs = name === 'googlebot';
    if (isForUs && (rule === 'noindex' || rule === 'none')) return true;
  }
  return false;
};

const MAX_PLACEHOLDERS = 10;

/**
 * What no business has: domains of RFC 2606, the telephone numbers that North America keeps for
 * fiction, filler text. Each begins with a literal, so that a long page is searched in linear time.
 */
const placeholderForms: readonly RegExp[] = [
  /(?<=([\w.+-]{1,64}))@(?:[\w-]{1,63}\.){0,4}example(?:\.(?:com|net|org))?(?!\.?[\w-])/gi,
  /\+1[ .-]?(?:\(?\d{3}\)?[ .-]?)?555[ .-]?01\d\d(?!\d)/g,
  /(?<=(?<!\d)(\d{3}\)?[ .-]))555[ .-]01\d\d(?!\d)/g,
  /lorem ipsum/gi,
  // Of the templates' address.
  /Second floor,? Your town/g,
];

const placeholdersIn = (texts: readonly string[]): string[] => {
  const text = clean(texts.join(' '));
  const found = placeholderForms.flatMap((form) => [...text.matchAll(form)].map(([rest, start = '']) => start + rest));
  return [...new Set(found)].slice(0, MAX_PLACEHOLDERS);
};

/** In characters. Each link is resolved against the base, at a cost that grows with its length. */
const MAX_BASE_LENGTH = 2_000;

const baseOf = (base: string | undefined, url: string): string =>
  (base === undefined || base.length > MAX_BASE_LENGTH ? undefined : parseUrl(base, url)?.href) ?? url;

const addressesOf = (hrefs: readonly string[], base: string): string[] => {
  const addresses = new Set<string>();
  for (const href of hrefs) {
    const address = parseUrl(href, base);
    if (address === undefined) continue;
    address.hash = '';
    if (/^https?:$/.test(address.protocol)) addresses.add(address.href);
    if (addresses.size === MAX_LINKS) break;
  }
  return [...addresses];
};

const MAX_TYPES = 100;

/** The types of all objects in JSON-LD, including those in a graph. */
const structuredDataOf = (scripts: readonly string[]): { types: string[]; invalid: number } => {
  const types: string[] = [];
  let invalid = 0;
  for (const script of scripts) {
    try {
      const found = typesIn(JSON.parse(script) as unknown);
      types.push(...found);
      if (found.length === 0) invalid += 1;
    } catch {
      invalid += 1; // Not JSON.
    }
  }
  return { types, invalid };
};

/** At most `MAX_TYPES`. Each part of the value is visited once, however deep it lies. */
const typesIn = (data: unknown): string[] => {
  const types: string[] = [];
  const waiting = [data];
  while (waiting.length > 0 && types.length < MAX_TYPES) {
    const value = waiting.pop();
    if (Array.isArray(value)) {
      for (const one of value as readonly unknown[]) waiting.push(one);
    } else if (typeof value === 'object' && value !== null) {
      const { '@type': type, '@graph': graph } = value as { '@type'?: unknown; '@graph'?: unknown };
      types.push(
        ...[type]
          .flat()
          .slice(0, MAX_TYPES)
          .filter((one): one is string => typeof one === 'string'),
      );
      waiting.push(graph);
    }
  }
  return types;
};
