import { expect, test } from '@jest/globals';
import { parseUrl } from '../../src/platform/urls.js';

test('an address stays valid, however many were parsed before', () => {
  const wrong = Array.from({ length: 20_000 }, () => parseUrl('https://bücher.example/käse')?.href).filter(
    (href) => href !== 'https://xn--bcher-kva.example/k%C3%A4se',
  );
  expect(wrong).toEqual([]);
});

test.each([
  ['a/ö', 'https://example.com/b/', 'https://example.com/b/a/%C3%B6'],
  ['//other.example', 'https://example.com/', 'https://other.example/'],
])('%s at %s is %s', (text, base, href) => {
  expect(parseUrl(text, base)?.href).toBe(href);
});

test.each(['', 'a', '//x', 'http://', 'https://a b', 'http://[::1', 'http://x:99999'])('%j alone is not an address', (text) => {
  expect(parseUrl(text)).toBeUndefined();
});
