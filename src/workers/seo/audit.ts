import type { SeoFinding } from '../../events/seo/seo.events.js';
import { parseUrl } from '../../platform/urls.js';
import type { Site } from './crawl.js';
import type { PageFacts } from './page.js';

/** Something that search engines stumble over. */
interface Rule {
  readonly rule: string;
  readonly severity: SeoFinding['severity'];
  readonly message: string;
  readonly advice: string;
  /** Addresses of the pages that it is the matter with; true when it is the site as a whole. */
  readonly breaks: (site: Site) => readonly string[] | boolean;
}

/** What a rule costs when every page breaks it, or the site as a whole does; of 100. */
const costs: Readonly<Record<SeoFinding['severity'], number>> = { error: 20, warning: 8, notice: 3 };

const MOST_ADDRESSES = 5;
const LONGEST_ADDRESS = 300;

const shortestTitle = 10;
const longestTitle = 65;
const shortestDescription = 50;
const longestDescription = 170;

/** A rule of single pages. */
const on =
  (breaks: (page: PageFacts, site: Site) => boolean): Rule['breaks'] =>
  (site) =>
    site.pages.filter((page) => breaks(page, site)).map(({ url }) => url);

const titleOf = ({ titles }: PageFacts): string => titles[0] ?? '';
const descriptionOf = ({ descriptions }: PageFacts): string => descriptions[0] ?? '';

/** Whether another page says the same. */
const isShared =
  (textOf: (page: PageFacts) => string) =>
  (page: PageFacts, { pages }: Site): boolean =>
    textOf(page) !== '' && pages.some((other) => other !== page && textOf(other) === textOf(page));

const skipsLevel = ({ headingLevels }: PageFacts): boolean =>
  headingLevels.some((level, index) => index > 0 && level > (headingLevels[index - 1] ?? 0) + 1);

/** BCP 47, as far as its form goes. */
const isLanguage = (text: string): boolean => {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false; // How Intl says that it is none.
  }
};

const isWrongCanonical = ({ canonicals, url }: PageFacts): boolean => {
  const [canonical = ''] = canonicals;
  if (canonicals.length === 0) return false;
  return canonicals.length > 1 || parseUrl(canonical)?.href !== url;
};

const isWrongAlternate = ({ language, href }: PageFacts['alternates'][number]): boolean =>
  parseUrl(href) === undefined || (language.toLowerCase() !== 'x-default' && !isLanguage(language));

const rules: readonly Rule[] = [
  {
    rule: 'noindex',
    severity: 'error',
    message: 'Pages ask search engines to leave them out.',
    advice: 'Remove "noindex" from the robots meta tag and the X-Robots-Tag header of every page that people should find.',
    breaks: on(({ noindex }) => noindex),
  },
  {
    rule: 'robots-shut-out',
    severity: 'error',
    message: 'robots.txt keeps search engines out of the home page.',
    advice: 'Remove the Disallow rule that covers "/" from robots.txt.',
    breaks: ({ robots }) => robots.shutsOut,
  },
  {
    rule: 'title-missing',
    severity: 'error',
    message: 'Pages have no title.',
    advice: 'Give each page a <title> that says what it is about and whose it is.',
    breaks: on((page) => titleOf(page) === ''),
  },
  {
    rule: 'links-broken',
    severity: 'error',
    message: 'Links within the site lead nowhere.',
    advice: 'Mend or remove these links, or redirect their addresses to the pages that took their place.',
    breaks: ({ brokenLinks }) => brokenLinks.map(({ from, to }) => `${to} (linked from ${from})`),
  },
  {
    rule: 'title-duplicate',
    severity: 'warning',
    message: 'Several pages have the same title.',
    advice: 'Give each page a title of its own, so that people can tell them apart in the results.',
    breaks: on(isShared(titleOf)),
  },
  {
    rule: 'title-length',
    severity: 'warning',
    message: `Titles are shorter than ${String(shortestTitle)} or longer than ${String(longestTitle)} characters.`,
    advice: 'Put what matters into the first 60 characters of the title; what is longer is cut off in the results.',
    breaks: on((page) => titleOf(page) !== '' && isOutside(titleOf(page), shortestTitle, longestTitle)),
  },
  {
    rule: 'title-several',
    severity: 'warning',
    message: 'Pages have more than one title.',
    advice: 'Keep one <title> in the head of each page.',
    breaks: on(({ titles }) => titles.length > 1),
  },
  {
    rule: 'description-missing',
    severity: 'warning',
    message: 'Pages have no description.',
    advice: 'Add <meta name="description"> with one or two sentences that make people want to read the page.',
    breaks: on((page) => descriptionOf(page) === ''),
  },
  {
    rule: 'description-duplicate',
    severity: 'notice',
    message: 'Several pages have the same description.',
    advice: 'Describe each page in its own words.',
    breaks: on(isShared(descriptionOf)),
  },
  {
    rule: 'description-length',
    severity: 'notice',
    message: `Descriptions are shorter than ${String(shortestDescription)} or longer than ${String(longestDescription)} characters.`,
    advice: 'Say it in 50 to 160 characters: shorter ones tell little, longer ones are cut off.',
    breaks: on((page) => descriptionOf(page) !== '' && isOutside(descriptionOf(page), shortestDescription, longestDescription)),
  },
  {
    rule: 'heading-missing',
    severity: 'warning',
    message: 'Pages have no main heading.',
    advice: 'Begin the content of each page with one <h1> that says what it is about.',
    breaks: on(({ headingLevels }) => !headingLevels.includes(1)),
  },
  {
    rule: 'heading-several',
    severity: 'notice',
    message: 'Pages have more than one main heading.',
    advice: 'Keep one <h1> and make the others <h2>.',
    breaks: on(({ headingLevels }) => headingLevels.filter((level) => level === 1).length > 1),
  },
  {
    rule: 'heading-skipped',
    severity: 'notice',
    message: 'Headings skip a level.',
    advice: 'Let an <h2> follow the <h1>, an <h3> the <h2>, and so on; choose the size by style, not by level.',
    breaks: on(skipsLevel),
  },
  {
    rule: 'image-alternative-missing',
    severity: 'warning',
    message: 'Images have no text in their place.',
    advice: 'Add alt="…" that says what the image shows, and alt="" to images that are mere decoration.',
    breaks: on(({ imagesWithoutAlternative }) => imagesWithoutAlternative > 0),
  },
  {
    rule: 'canonical-missing',
    severity: 'notice',
    message: 'Pages do not say which of their addresses is the one to show.',
    advice: 'Add <link rel="canonical"> with the whole address of the page.',
    breaks: on(({ canonicals }) => canonicals.length === 0),
  },
  {
    rule: 'canonical-wrong',
    severity: 'warning',
    message: 'Pages name another address as the one to show, several of them, or none that is complete.',
    advice: 'Have one <link rel="canonical"> with the whole address, "https://" included, at which the page is found.',
    breaks: on(isWrongCanonical),
  },
  {
    rule: 'language-missing',
    severity: 'warning',
    message: 'Pages do not say in which language they are.',
    advice: 'Add the language to the html element, as in <html lang="en">.',
    breaks: on(({ language }) => language === undefined || language === ''),
  },
  {
    rule: 'language-wrong',
    severity: 'warning',
    message: 'Pages name a language that there is not, for themselves or for their versions in other languages.',
    advice: 'Use codes such as "en", "de" or "pt-BR", and whole addresses in <link rel="alternate" hreflang="…">.',
    breaks: on(
      ({ language, alternates }) =>
        (language !== undefined && language !== '' && !isLanguage(language)) || alternates.some(isWrongAlternate),
    ),
  },
  {
    rule: 'robots-missing',
    severity: 'notice',
    message: 'There is no robots.txt.',
    advice: 'Add a robots.txt as plain text that lets search engines in and names the sitemap.',
    breaks: ({ robots }) => !robots.found,
  },
  {
    rule: 'sitemap-missing',
    severity: 'warning',
    message: 'There is no sitemap.',
    advice: 'Add a sitemap.xml that lists every page, and name it in robots.txt.',
    breaks: ({ sitemap }) => !sitemap.found,
  },
  {
    rule: 'sitemap-invalid',
    severity: 'warning',
    message: 'The sitemap cannot be read, or lists nothing.',
    advice: 'Write it as https://www.sitemaps.org/protocol.html says: a <urlset> with a <url><loc> for each page.',
    breaks: ({ sitemap }) => sitemap.found && !sitemap.valid,
  },
  {
    rule: 'sitemap-outdated',
    severity: 'warning',
    message: 'The sitemap lists pages that are not there.',
    advice: 'Take these addresses out of the sitemap.',
    breaks: ({ sitemap }) => sitemap.missing,
  },
  {
    rule: 'link-text-missing',
    severity: 'notice',
    message: 'Links say nothing about where they lead.',
    advice: 'Give each link a text, and each image that is a link an alt text.',
    breaks: on(({ linksWithoutText }) => linksWithoutText > 0),
  },
  {
    rule: 'structured-data-missing',
    severity: 'notice',
    message: 'The site tells machines nothing about the business.',
    advice:
      'Describe the business on the home page as JSON-LD: a LocalBusiness or Organization of schema.org with name, address and url.',
    breaks: ({ pages }) => pages.every(({ structuredData }) => structuredData.length === 0),
  },
  {
    rule: 'structured-data-invalid',
    severity: 'warning',
    message: 'Structured data cannot be read.',
    advice: 'Mend the JSON in <script type="application/ld+json">; each thing needs an "@type".',
    breaks: on(({ invalidStructuredData }) => invalidStructuredData > 0),
  },
];

const isOutside = (text: string, shortest: number, longest: number): boolean => {
  const { length } = Array.from(text);
  return length < shortest || length > longest;
};

/** What is the matter with a site, the gravest first, and a score from 0 to 100: what each finding costs grows with the pages it concerns. */
export const audit = (site: Site): { readonly score: number; readonly findings: readonly SeoFinding[] } => {
  const findings: SeoFinding[] = [];
  let cost = 0;
  for (const { rule, severity, message, advice, breaks } of rules) {
    const broken = breaks(site);
    const addresses = typeof broken === 'boolean' ? [] : broken;
    if (broken === false || (broken !== true && addresses.length === 0)) continue;
    const share = broken === true ? 1 : Math.min(1, addresses.length / site.pages.length);
    cost += costs[severity] * share;
    const pages = addresses.slice(0, MOST_ADDRESSES).map((address) => address.slice(0, LONGEST_ADDRESS));
    findings.push({ rule, severity, message, advice, affected: addresses.length, pages });
  }
  findings.sort((one, other) => costs[other.severity] - costs[one.severity]);
  return { score: Math.max(0, Math.round(100 - cost)), findings };
};
