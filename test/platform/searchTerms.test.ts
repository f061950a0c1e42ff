import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldText } from '../../src/platform/foldText.js';
import { hasTerms, spelledOut, spelledTerms, termsOf, termsOfBeginning, termsWithin } from '../../src/platform/searchTerms.js';

test('a text is found by its parts and the beginnings of its words', () => {
  expect([...termsOf(['Café au'])].sort()).toStrictEqual([' au', '^au', '^caf', 'afe', 'au', 'caf', 'e a', 'fe ', 'u'].sort());
  expect(termsWithin('AFÉ')).toStrictEqual({ all: ['afe'] });
  expect(termsWithin('ÁB')).toStrictEqual({ all: [], beginning: 'ab' });
  expect(termsWithin('\u0301')).toStrictEqual({ all: [] });
  expect(termsOfBeginning('CÁ')).toStrictEqual({ all: [], beginning: '^ca' });
  expect(termsOfBeginning('café a')).toStrictEqual({ all: ['^caf', 'caf', 'afe', 'fe ', 'e a'] });
  expect(termsOfBeginning('ça va')).toStrictEqual({ all: ['ca ', 'a v', ' va'], beginning: '^ca' });
  expect(termsOfBeginning('-x')).toBeNull();
  expect(termsWithin(`${'x'.repeat(200)}abc`).all.length).toBeLessThanOrEqual(24);
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'Ä', 'ß', ' ', '-', '1', '😀', 'é') });

test('whatever contains a text has its terms, also where an index has whole values only', () => {
  fc.assert(
    fc.property(text, text, text, (before, searched, after) => {
      const whole = termsOf([before + searched + after]);
      // Folding a part is folding the whole there, which is what comparing texts relies on too.
      fc.pre(foldText(before + searched + after).includes(foldText(searched)));
      expect(hasTerms(whole, termsWithin(searched))).toBe(true);
      expect(spelledTerms(termsWithin(searched)).filter((term) => !spelledOut(whole).includes(term))).toStrictEqual([]);
    }),
  );
});

test('a text whose word begins so has the terms of the beginning', () => {
  fc.assert(
    fc.property(text, text, text, (before, searched, after) => {
      const terms = termsOfBeginning(searched);
      fc.pre(terms !== null);
      const whole = termsOf([`${before} ${searched}${after}`]);
      expect(hasTerms(whole, terms)).toBe(true);
      expect(spelledTerms(terms).filter((term) => !spelledOut(whole).includes(term))).toStrictEqual([]);
    }),
  );
});

test('terms of one character are not spelled out, because they would tell which letters there are', () => {
  expect(spelledOut(['abc', '^de', 'f'])).toStrictEqual(['ab', 'abc', '^d', '^de']);
  expect(spelledTerms({ all: ['abc'], beginning: 'd' })).toStrictEqual(['abc']);
});
