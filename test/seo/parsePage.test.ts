import { describe, expect, test } from '@jest/globals';
import { readPage } from '../../src/workers/seo/page.js';

const most = 2 * 1_024 * 1_024;
const filled = (piece: string): string => piece.repeat(Math.floor(most / piece.length));
const head = '<!doctype html><html lang="en"><head><title>Corner Bakery</title></head><body><h1>Bread</h1>';

const read = (body: string) => readPage(head + body, 'https://bakery.example/', '');

describe('pages that cost a parser the square of their length are read as far as is reasonable', () => {
  test.each([
    ['elements in each other', filled('<div>')],
    ['headings in each other', filled('<h1><span>')],
    ['links in each other', filled('<table><tr><td><a href=x>')],
    ['formats that are never ended', filled('<b>x</p>')],
    ['paragraphs in formats', filled('<font><p>')],
    ['a heading around very much', `${'<h2><span>'.repeat(200)}${filled('x ')}`],
    ['attributes', `<div ${Array.from({ length: 250_000 }, (_, index) => `a${String(index)} `).join('')}>`],
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
