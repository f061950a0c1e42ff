import { expect, test } from '@jest/globals';
import { inCopyOrder } from '../../src/operations/copyFolder.js';

test('of a repository, branches are copied before what they lead to, and packs last', () => {
  const names = (...all: string[]) => inCopyOrder(all.map((name) => ({ name }))).map(({ name }) => name);
  expect(names('HEAD', 'objects', 'packed-refs', 'refs')).toEqual(['HEAD', 'refs', 'packed-refs', 'objects']);
  expect(names('0a', 'info', 'pack', 'ff')).toEqual(['0a', 'info', 'ff', 'pack']);
});
