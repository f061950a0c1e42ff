import { expect, test } from '@jest/globals';
import { lazily } from '../../src/platform/lazily.js';

test('is loaded once for all who ask, also at the same time', async () => {
  let loads = 0;
  const load = lazily(() => Promise.resolve({ number: (loads += 1) }));
  const [first, second] = await Promise.all([load(), load()]);
  expect([first, second, await load()]).toEqual([{ number: 1 }, { number: 1 }, { number: 1 }]);
});

test('a load that fails is told to all who wait for it, and tried again with the next call', async () => {
  let loads = 0;
  const load = lazily(() => {
    loads += 1;
    return loads === 1 ? Promise.reject(new Error('too many open files')) : Promise.resolve(loads);
  });
  const both = await Promise.allSettled([load(), load()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([await load(), await load()]).toEqual([2, 2]);
});
