import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { createTransientMap, type TransientMap } from '../../src/platform/transientMap.js';

test('keeps what was set and not deleted, however many have come and gone', () => {
  const [map, like] = [createTransientMap<number, string>(), new Map<number, string>()];
  for (let key = 0; key < 1_000; key += 1) {
    for (const each of [map, like]) {
      each.set(key, `value ${String(key)}`);
      if (key % 7 === 0) each.set(key, 'another');
      if (key % 3 !== 0) each.delete(key - 40);
      each.delete(-1);
    }
    expect([map.size, map.get(key), map.get(key - 40)]).toEqual([like.size, like.get(key), like.get(key - 40)]);
  }
  expect([...map.values()]).toEqual([...like.values()]);
});

/** Bytes of each value that are in the old generation after it was removed, with 50 values at any time. */
const bytesLeft = (map: TransientMap<number, unknown>): number => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const oldBytes = (): number =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
  const replace = (from: number, to: number): void => {
    for (let key = from; key < to; key += 1) {
      map.set(key, { payload: new Array<number>(100).fill(key) });
      map.delete(key - 50);
      // A value is there at one minor collection at most.
      if (key % 200 === 199) collect({ type: 'minor' });
    }
  };
  replace(0, 5_000);
  collect();
  const before = oldBytes();
  replace(5_000, 15_000);
  return (oldBytes() - before) / 10_000;
};

test('what was removed does not outlive minor collections, as it does with a Map', () => {
  expect(bytesLeft(createTransientMap())).toBeLessThan(100);
  expect(bytesLeft(new Map())).toBeGreaterThan(300);
});
