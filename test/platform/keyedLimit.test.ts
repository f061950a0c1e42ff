import { expect, test } from '@jest/globals';
import { createKeyedLimit } from '../../src/platform/keyedLimit.js';

test('a limit for each key holds up nobody else', async () => {
  const limit = createKeyedLimit(1);
  const order: string[] = [];
  let end = (): void => undefined;
  const first = limit('ada', () => new Promise<void>((resolve) => (end = resolve)));
  const second = limit('ada', () => Promise.resolve(order.push('ada')));
  await limit('ben', () => Promise.resolve(order.push('ben')));
  expect(order).toStrictEqual(['ben']);
  end();
  await Promise.all([first, second]);
  expect(order).toStrictEqual(['ben', 'ada']);
});
