import type { SeoFinding } from '../../events/seo/seo.events.js';
import { parseUrl } from '../../platform/urls.js';
import type { Site } from './crawl.js';
import type { PageFacts } from './page.js';

/** A problem that search engines have with a site. */
interface Rule {
  readonly rule: string;
  readonly severity: SeoFinding['severity'];
  readonly message: string;
  readonly advice: string;
  /** The addresses of the affected pages, or whether the site as a whole is affected. */
  readonly check: (site: Site) => readonly string[] | boolean;
}

/** The points, of 100, that a finding costs when it affects every page or the site as a whole. */
const costs: Readonly<Record<SeoFinding['severity'], number>> = { error: 20, warning: 8, notice: 3 };

const MAX_ADDRESSES = 5;
const MAX_ADDRESS_LENGTH = 300;

const minTitleLength = 10;
const maxTitleLength = 65;
const minDescriptionLength = 50;
const maxDescriptionLength = 170;

/** A check of each page by itself. */
const onPages =
  (isAffected: (page: PageFacts, site: Site) => boolean): Rule['check'] =>
  (site) =>
    site.pages.filter((page) => isAffected(page, site)).map(({ url }) => url);

/** A check of each page by itself, which says what it found there. */
const onPagesNaming =
  (found: (page: PageFacts) => readonly string[]): Rule['check'] =>
  ({ pages }) =>
    pages.filter((page) => found(page).length > 0).map((page) => `${page.url} (${found(page).join(', ')})`);

const titleOf = ({ titles }: PageFacts): string => titles[0] ?? '';
const descriptionOf = ({ descriptions }: PageFacts): string => descriptions[0] ?? '';

/** Whether another page has the same text. */
const isShared =
  (textOf: (page: PageFacts) => string) =>
  (page: PageFacts, { pages }: Site): boolean =>
    textOf(page) !== '' && pages.some((other) => other !== page && textOf(other) === textOf(page));

const skipsLevel = ({ headingLevels }: PageFacts): boolean =>
  headingLevels.some((level, index) => index > 0 && level > (headingLevels[index - 1] ?? 0) + 1);

/** In characters; RFC 5646 (4.4.1) expects at most 35. Variants of a tag are compared with each other. */
const MAX_LANGUAGE_LENGTH = 100;

/** Whether `text` has the form of a BCP 47 language tag. */
const isLanguage = (text: string): boolean => {
  if (text.length > MAX_LANGUAGE_LENGTH) return false;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false; // Not a language tag.
  }
};

const isWrongCanonical = ({ canonicals, url }: PageFacts): boolean => {
  const [canonical = ''] = canonicals;
  if (canonicals.length === 0) return false;
  return canonicals.length > 1 || parseUrl(canonical)?.href !== url;
};

const isWrongAlternate = ({ language, href }: PageFacts['alternates'][number]): boolean =>
  parseUrl(href) === undefined || (language.toLowerCase() !== 'x-default' && !isLanguage(language));

export const rules: readonly Rule[] = [
  {
    rule: 'noindex',
    severity: 'error',
    message: 'Pages ask search engines to leave them out.',
    advice:
      'Remove "noindex" from the robots meta tag and the X-Robots-Tag header of every page that people should find. A site that was made here from a template sends it until its content is edited.',
    check: onPages(({ noindex }) => noindex),
  },
  {
    rule: 'robots-shut-out',
    severity: 'error',
    message: 'robots.txt keeps search engines out of the home page.',
    advice: 'Remove the Disallow rule that covers "/" from robots.txt.',
    check: ({ robots }) => robots.blocksHome,
  },
  {
    rule: 'title-missing',
    severity: 'error',
    message: 'Pages have no title.',
    advice: 'Give each page a <title> with its topic and the name of the business.',
    check: onPages((page) => titleOf(page) === ''),
  },
  {
    rule: 'links-broken',
    severity: 'error',
    message: 'Links within the site lead nowhere.',
    advice: 'Fix or remove these links, or redirect their addresses to the pages that replaced them.',
    check: ({ brokenLinks }) => brokenLinks.map(({ from, to }) => `${to} (linked from ${from})`),
  },
  {
    rule: 'placeholder',
    severity: 'warning',
    message: 'Pages show addresses, telephone numbers or filler text that are examples.',
    advice: 'Replace them by those of the business, or remove them.',
    check: onPagesNaming(({ placeholders }) => placeholders),
  },
  {
    rule: 'title-duplicate',
    severity: 'warning',
    message: 'Several pages have the same title.',
    advice: 'Give each page a title of its own, so that people can tell them apart in the results.',
    check: onPages(isShared(titleOf)),
  },
  {
    rule: 'title-length',
    severity: 'warning',
    message: `Titles are shorter than ${String(minTitleLength)} or longer than ${String(maxTitleLength)} characters.`,
    advice: 'Put the important words into the first 60 characters of the title; the rest is cut off in the results.',
    check: onPages((page) => titleOf(page) !== '' && isOutside(titleOf(page), minTitleLength, maxTitleLength)),
  },
  {
    rule: 'title-several',
    severity: 'warning',
    message: 'Pages have more than one title.',
    advice: 'Keep one <title> in the head of each page.',
    check: onPages(({ titles }) => titles.length > 1),
  },
  {
    rule: 'description-missing',
    severity: 'warning',
    message: 'Pages have no description.',
    advice: 'Add <meta name="description"> with one or two sentences that make people want to read the page.',
    check: onPages((page) => descriptionOf(page) === ''),
  },
  {
    rule: 'description-duplicate',
    severity: 'notice',
    message: 'Several pages have the same description.',
    advice: 'Describe each page in its own words.',
    check: onPages(isShared(descriptionOf)),
  },
  {
    rule: 'description-length',
    severity: 'notice',
    message: `Descriptions are shorter than ${String(minDescriptionLength)} or longer than ${String(maxDescriptionLength)} characters.`,
    advice: 'Use 50 to 160 characters: shorter descriptions say too little, longer ones are cut off.',
    check: onPages(
      (page) => descriptionOf(page) !== '' && isOutside(descriptionOf(page), minDescriptionLength, maxDescriptionLength),
    ),
  },
  {
    rule: 'heading-missing',
    severity: 'warning',
    message: 'Pages have no main heading.',
    advice: 'Begin the content of each page with one <h1> that says what it is about.',
    check: onPages(({ headingLevels }) => !headingLevels.includes(1)),
  },
  {
    rule: 'heading-several',
    severity: 'notice',
    message: 'Pages have more than one main heading.',
    advice: 'Keep one <h1> and make the others <h2>.',
    check: onPages(({ headingLevels }) => headingLevels.filter((level) => level === 1).length > 1),
  },
  {
    rule: 'heading-skipped',
    severity: 'notice',
    message: 'Headings skip a level.',
    advice: 'Let an <h2> follow the <h1>, an <h3> the <h2>, and so on; choose the size by style, not by level.',
    check: onPages(skipsLevel),
  },
  {
    rule: 'image-alternative-missing',
    severity: 'warning',
    message: 'Images have no alternative text.',
    advice: 'Add alt="…" that says what the image shows, and alt="" to images that are only decoration.',
    check: onPages(({ imagesWithoutAlternative }) => imagesWithoutAlternative > 0),
  },
  {
    rule: 'canonical-missing',
    severity: 'notice',
    message: 'Pages do not say which of their addresses search engines should show.',
    advice: 'Add <link rel="canonical"> with the whole address of the page.',
    check: onPages(({ canonicals }) => canonicals.length === 0),
  },
  {
    rule: 'canonical-wrong',
    severity: 'warning',
    message: 'Pages name another address, several addresses, or an incomplete one as the address to show.',
    advice: 'Have one <link rel="canonical"> with the whole address, "https://" included, at which the page is found.',
    check: onPages(isWrongCanonical),
  },
  {
    rule: 'language-missing',
    severity: 'warning',
    message: 'Pages do not say in which language they are.',
    advice: 'Add the language to the html element, as in <html lang="en">.',
    check: onPages(({ language }) => language === undefined || language === ''),
  },
  {
    rule: 'language-wrong',
    severity: 'warning',
    message: 'Pages name an invalid language, for themselves or for their versions in other languages.',
    advice: 'Use codes such as "en", "de" or "pt-BR", and whole addresses in <link rel="alternate" hreflang="…">.',
    check: onPages(
      ({ language, alternates }) =>
        (language !== undefined && language !== '' && !isLanguage(language)) || alternates.some(isWrongAlternate),
    ),
  },
  {
    rule: 'robots-missing',
    severity: 'notice',
    message: 'There is no robots.txt.',
    advice: 'Add a robots.txt as plain text that lets search engines in and names the sitemap.',
    check: ({ robots }) => !robots.found,
  },
  {
    rule: 'sitemap-missing',
    severity: 'warning',
    message: 'There is no sitemap.',
    advice: 'Add a sitemap.xml that lists every page, and name it in robots.txt.',
    check: ({ sitemap }) => !sitemap.found,
  },
  {
    rule: 'sitemap-invalid',
    severity: 'warning',
    message: 'The sitemap cannot be read, or lists nothing.',
    advice: 'Write it as https://www.sitemaps.org/protocol.html says: a <urlset> with a <url><loc> for each page.',
    check: ({ sitemap }) => sitemap.found && !sitemap.valid,
  },
  {
    rule: 'sitemap-outdated',
    severity: 'warning',
    message: 'The sitemap lists pages that do not exist.',
    advice: 'Remove these addresses from the sitemap.',
    check: ({ sitemap }) => sitemap.missing,
  },
  {
    rule: 'link-text-missing',
    severity: 'notice',
    message: 'Links say nothing about where they lead.',
    advice: 'Give each link a text, and each image that is a link an alt text.',
    check: onPages(({ linksWithoutText }) => linksWithoutText > 0),
  },
  {
    rule: 'structured-data-missing',
    severity: 'notice',
    message: 'The site has no structured data about the business.',
    advice:
      'Describe the business on the home page as JSON-LD: a LocalBusiness or Organization of schema.org with name, address and url.',
    check: ({ pages }) => pages.every(({ structuredData }) => structuredData.length === 0),
  },
  {
    rule: 'structured-data-invalid',
    severity: 'warning',
    message: 'Structured data cannot be read.',
    advice: 'Fix the JSON in <script type="application/ld+json">; each thing needs an "@type".',
    check: onPages(({ invalidStructuredData }) => invalidStructuredData > 0),
  },
];

const isOutside = (text: string, min: number, max: number): boolean => {
  const { length } = Array.from(text);
  return length < min || length > max;
};

/**
 * The findings about a site, the most severe first, and a score from 0 to 100. A finding costs more
 * points the more pages it affects.
 */
export const audit = (site: Site): { readonly score: number; readonly findings: readonly SeoFinding[] } => {
  const findings: SeoFinding[] = [];
  let cost = 0;
  for (const { rule, severity, message, advice, check } of rules) {
    const result = check(site);
    const addresses = typeof result === 'boolean' ? [] : result;
    if (result === false || (result !== true && addresses.length === 0)) continue;
    const share = result === true ? 1 : Math.min(1, addresses.length / site.pages.length);
    cost += costs[severity] * share;
    const pages = addresses.slice(0, MAX_ADDRESSES).map((address) => address.slice(0, MAX_ADDRESS_LENGTH));
    findings.push({ rule, severity, message, advice, affected: addresses.length, pages });
  }
  findings.sort((one, other) => costs[other.severity] - costs[one.severity]);
  return { score: Math.max(0, Math.round(100 - cost)), findings };
};
