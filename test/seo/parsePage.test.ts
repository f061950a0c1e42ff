import { describe, expect, test } from '@jest/globals';
import { readPage } from '../../src/workers/seo/page.js';

const most = 2 * 1_024 * 1_024;
const filled = (piece: string): string => piece.repeat(Math.floor(most / piece.length));
const head = '<!doctype html><html lang="en"><head><title>Corner Bakery</title></head><body><h1>Bread</h1>';

const jsonLd = (text: string): string => `<script type="application/ld+json">${text}</script>`;

const read = (body: string) => readPage(head + body, 'https://bakery.example/', []);

describe('pages that cost a parser the square of their length are read as far as is reasonable', () => {
  test.each([
    ['elements in each other', filled('<div>')],
    ['headings in each other', filled('<h1><span>')],
    ['links in each other', filled('<table><tr><td><a href=x>')],
    ['formats that are never ended', filled('<b>x</p>')],
    ['paragraphs in formats', filled('<font><p>')],
    ['a heading around very much', `${'<h2><span>'.repeat(200)}${filled('x ')}`],
    ['attributes', `<div ${Array.from({ length: 250_000 }, (_, index) => `a${String(index)} `).join('')}>`],
    ['graphs in each other', jsonLd(`${'{"@graph":'.repeat(6_000)}{"@type":[${'"T",'.repeat(400_000)}"T"]}${'}'.repeat(6_000)}`)],
    ['structured data in each other', `<svg>${'<script type="application/ld+json">'.repeat(400)}[${'1,'.repeat(900_000)}1]`],
    [
      'links from a long base',
      `<base href="https://bakery.example/${'a'.repeat(1_000_000)}/">${'<a href=x>x</a>'.repeat(40_000)}`,
    ],
  ])(
    '%s',
    async (_what, body) => {
      const { titles, headings, language } = await read(body);
      expect([titles, headings[0], language]).toStrictEqual([['Corner Bakery'], 'Bread', 'en']);
      expect(Math.max(...headings.map(({ length }) => length))).toBeLessThan(5_000);
    },
    30_000,
  );
});

test('a long page that is like any other is read to its end, and others get their turn meanwhile', async () => {
  const paragraph =
    '<div class="text"><p>Sourdough <b>every</b> morning &amp; cakes. <a href="/about">About 🍞</a></p></div>\r\n';
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turning = setImmediate(count);
  };
  let turning = setImmediate(count);
  const page = await read(
    `${paragraph.repeat(4_000)}<h2>The <i>end</i> <img alt="of it"></h2><a href="/b"><img src="/b.png"></a>`,
  );
  clearImmediate(turning);
  expect(page.headings).toStrictEqual(['Bread', 'The end of it']);
  expect(page.links).toStrictEqual(['https://bakery.example/about', 'https://bakery.example/b']);
  expect(page.linksWithoutText).toBe(1);
  expect(turns).toBeGreaterThan(50);
});

test('structured data is found in lists and graphs, and is invalid when it is not JSON or has no type', async () => {
  const page = await read(
    [
      jsonLd('{"@type":"Bakery"}'),
      jsonLd('[{"@type":["Organization","LocalBusiness"]},{"@graph":[{"@type":"WebSite"},[{"@type":"WebPage"}]]}]'),
      jsonLd('{"@type":'),
      jsonLd('{"name":"Corner Bakery"}'),
      '<div itemscope itemtype="https://schema.org/Offer"></div>',
    ].join(''),
  );
  expect([...page.structuredData].sort()).toStrictEqual([
    'Bakery',
    'LocalBusiness',
    'Organization',
    'WebPage',
    'WebSite',
    'https://schema.org/Offer',
  ]);
  expect(page.invalidStructuredData).toBe(2);
});

test.each([
  ['noindex', '', true],
  ['NOARCHIVE, NoIndex', '', true],
  ['googlebot: none', '', true],
  ['otherbot: noindex, googlebot: noindex', '', true],
  ['', '<meta name="googlebot" content="nofollow,noindex">', true],
  ['otherbot: nofollow', '<meta name="robots" content="none">', true],
  ['otherbot: noindex, nofollow', '', false],
  ['otherbot: nofollow, noindex', '', false],
  ['max-image-preview: none, max-snippet: 20', '', false],
  ['', '<meta name="robots" content="index, max-image-preview:none">', false],
  ['unavailable_after: 25 Jun 2030 15:00:00 PST', '', false],
  ['unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex', '', true],
  ['', '<meta name="robots" content="unavailable_after: Wednesday, 25-Jun-30 15:00:00 GMT, noindex">', true],
  ['unavailable_after: 2030-06-25 15:00:00 GMT+02:00, noindex', '', true],
  ['', '<meta name="robots" content="noindex nofollow">', true],
  ['', '<meta name="robots" content="nofollow;noindex">', true],
])('%j, and %j: asks search engines not to list the page: %j', async (header, meta, noindex) => {
  expect(await readPage(head + meta, 'https://bakery.example/', [header])).toMatchObject({ noindex });
});

test('rules for crawlers that are mostly white space are read at once', async () => {
  const meta = `<meta name="robots" content="${' '.repeat(1_000_000)}noindex">`;
  expect(await readPage(head + meta, 'https://bakery.example/', [])).toMatchObject({ noindex: true });
});
