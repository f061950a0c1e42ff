import { expect, test } from '@jest/globals';
import { createEndController } from '../../src/platform/endSignal.js';

test('those who listen learn of the end once, with the first reason', () => {
  const { signal, abort } = createEndController();
  const told: unknown[] = [];
  signal.addEventListener('abort', () => told.push(signal.reason));
  expect(signal.aborted).toBe(false);
  abort('first');
  abort('second');
  expect(signal.aborted).toBe(true);
  expect(told).toEqual(['first']);
});

test('who listens no more learns of nothing, also when another one ends that', () => {
  const { signal, abort } = createEndController();
  const told: string[] = [];
  const other = (): void => void told.push('other');
  signal.addEventListener('abort', () => {
    signal.removeEventListener('abort', other);
    told.push('first');
  });
  signal.addEventListener('abort', other);
  const gone = (): void => void told.push('gone');
  signal.addEventListener('abort', gone);
  signal.removeEventListener('abort', gone);
  abort('over');
  expect(told).toEqual(['first']);
});
