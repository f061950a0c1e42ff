import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldText, sortKeyOf } from '../../src/platform/foldText.js';

describe('foldText', () => {
  test.each([
    ['Müller', 'muller'],
    ['MU\u0308LLER', 'muller'],
    ['Straße', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['Smørrebrød Łódź', 'smorrebrod lodz'],
    ['Œuvre Æsir Þór Ðjúp', 'oeuvre aesir thor djup'],
    ['İstanbul Isparta', 'istanbul isparta'],
    ['Ὀδυσσεύς', 'οδυσσευς'],
    ['Ёлка', 'елка'],
    ['ﬁne ℡', 'fine tel'],
    ['100% a_b', '100% a_b'],
  ])('%s reads %s', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  test('what is folded stays as it is, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
    );
  });
});

describe('sortKeyOf', () => {
  test('keys give the order that people expect', () => {
    const texts = ['a', 'A b', 'Äb', 'ab c', 'B', 'Über', 'Zoo', 'Яблоко', '東京', '😀'];
    expect([...texts].reverse().sort((one, other) => (sortKeyOf(one) < sortKeyOf(other) ? -1 : 1))).toEqual(texts);
  });

  test('a key is of few characters, and not long, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(sortKeyOf(text)).toMatch(/^[!-~]{0,300}$/);
      }),
    );
    expect(sortKeyOf('a'.repeat(1_000))).toHaveLength(300);
  });
});
