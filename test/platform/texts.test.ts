import { describe, expect, test } from '@jest/globals';
import { Html } from '../../src/platform/html.js';
import { languageOf } from '../../src/platform/texts/languageOf.js';
import { fill, fillHtml, languages, textsOf } from '../../src/platform/texts/texts.js';

/** The texts with the names of their gaps: `code.text` has `email`. */
const gapsOf = (texts: object, path = ''): [string, string[]][] =>
  Object.entries(texts).flatMap(([name, text]: [string, unknown]) =>
    typeof text === 'string'
      ? [[`${path}${name}`, [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, gap = '']) => gap).sort()] as [string, string[]]]
      : gapsOf(text as object, `${path}${name}.`),
  );

describe('texts', () => {
  test.each(languages)('%s has the texts of English, with the same gaps', (language) => {
    const english = Object.fromEntries(gapsOf(textsOf('en')));
    expect(Object.keys(english).length).toBeGreaterThan(100);
    expect(Object.fromEntries(gapsOf(textsOf(language)))).toStrictEqual(english);
    for (const [, text] of Object.entries(textsOf(language)).flatMap(([, part]) => Object.entries(part))) {
      expect(text).toMatch(/\S/);
    }
  });

  test('every language writes dates and amounts in its own way', () => {
    for (const language of languages) expect(textsOf(language).locale.split('-')[0]).toBe(language);
  });

  test('a gap is filled once, and what is filled in is text unless it is markup', () => {
    expect(fill('{{one}} and {{two}}', { one: '{{two}}', two: '$&' })).toBe('{{two}} and $&');
    expect(fillHtml('<{{one}}, {{two}}', { one: '<i>', two: new Html('<b>x</b>') }).markup).toBe('&lt;&lt;i&gt;, <b>x</b>');
    expect(() => fill('{{one}}', {})).toThrow('nothing was given for {{one}}');
  });
});

test.each([
  ['nothing is asked for', undefined, undefined, 'en'],
  ['the browser reads German', undefined, 'de', 'de'],
  ['the browser reads Austrian German', undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['the browser reads neither first', undefined, 'fr-CH, fr;q=0.9, de;q=0.7, en;q=0.8, *;q=0.5', 'en'],
  ['German is preferred by its quality', undefined, 'en;q=0.4, DE;q=0.6', 'de'],
  ['qualities are equal', undefined, 'de, en', 'de'],
  ['German is refused', undefined, 'de;q=0, fr', 'en'],
  ['anything but English is read', undefined, 'en;q=0, *', 'de'],
  ['anything is read', undefined, '*', 'en'],
  ['neither is read', undefined, 'fr, it', 'en'],
  ['the header is damaged', undefined, ';;q=,de;q=x,', 'en'],
  ['the program asks for German', 'de', 'en', 'de'],
  ['the program asks for several', 'fr-FR de-CH en', 'en', 'de'],
  ['the program asks for what there is not', 'fr it', 'de', 'de'],
  ['the program asks for nothing', ' ', 'de', 'de'],
] as const)('the language when %s', (_, uiLocales, acceptLanguage, language) => {
  expect(languageOf({ uiLocales, acceptLanguage })).toBe(language);
});
