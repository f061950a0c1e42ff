import { expect, test } from '@jest/globals';
import { createCache } from '../../src/platform/cache.js';

test('the entries used last are kept', () => {
  const cache = createCache<number>(2);
  cache.set('a', 1).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([...cache.entries()]).toEqual([
    ['c', 3],
    ['a', 1],
  ]);
});
