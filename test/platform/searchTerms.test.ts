import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldText } from '../../src/platform/foldText.js';
import { termsOf, termsOfBeginning, termsWithin } from '../../src/platform/searchTerms.js';

test('a text is found by its parts and the beginnings of its words', () => {
  expect([...termsOf(['Café au'])].sort()).toStrictEqual(
    [' au', '^a', '^au', '^c', '^ca', '^caf', 'afe', 'caf', 'e a', 'fe '].sort(),
  );
  expect(termsWithin('AFÉ')).toStrictEqual(['afe']);
  expect(termsWithin('ab')).toStrictEqual([]);
  expect(termsOfBeginning('CÁ')).toStrictEqual(['^ca']);
  expect(termsOfBeginning('café a')).toStrictEqual(['^caf', 'caf', 'afe', 'fe ', 'e a']);
  expect(termsOfBeginning('-x')).toStrictEqual([]);
  expect(termsWithin(`${'x'.repeat(200)}abc`).length).toBeLessThanOrEqual(24);
});

test('whatever contains a text has its terms', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'Ä', 'ß', ' ', '-', '1', '😀', 'é') });
  fc.assert(
    fc.property(text, text, text, (before, searched, after) => {
      const whole = new Set(termsOf([before + searched + after]));
      // Folding a part is folding the whole there, which is what comparing texts relies on too.
      fc.pre(foldText(before + searched + after).includes(foldText(searched)));
      expect(termsWithin(searched).filter((term) => !whole.has(term))).toStrictEqual([]);
    }),
  );
});
