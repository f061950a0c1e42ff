import { expect, test } from '@jest/globals';
import { canonicalHostname, hostnameIn } from '../../src/platform/hostname.js';

test.each([
  ['www.bakery.example', 'www.bakery.example'],
  [' WWW.Bakery.Example. ', 'www.bakery.example'],
  ['www.bäckerei.example', 'www.xn--bckerei-5wa.example'],
  ['XN--BCKEREI-5WA.example', 'xn--bckerei-5wa.example'],
  ['１.bakery.example', '1.bakery.example'],
])('%j is %s', (text, name) => {
  expect(canonicalHostname(text)).toBe(name);
});

test.each([
  '',
  '.',
  'localhost',
  'https://www.bakery.example',
  'www.bakery.example/menu',
  'www.bakery.example:443',
  'me@bakery.example',
  '*.bakery.example',
  '_dmarc.bakery.example',
  'www..bakery.example',
  '-www.bakery.example',
  'www.bakery.example..',
  'bakery.123',
  '192.0.2.1',
  '１92.0.2.1',
  '0x7f.1',
  '127.1',
  '[::1]',
  '2001:db8::1',
  'bakery .example',
  'bakery.example\\x',
  'xn--a.example',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(120)}example`,
])('%j is no hostname of a website', (text) => {
  expect(canonicalHostname(text)).toBeNull();
});

test.each([
  ['www.bakery.example:8443', 'www.bakery.example'],
  ['WWW.bakery.example.', 'www.bakery.example'],
  ['127.0.0.1:3000', null],
  ['[::1]:3000', null],
  ['api:3000', null],
  ['', null],
])('Host: %s names %s', (header, name) => {
  expect(hostnameIn(header)).toBe(name);
});
