import { expect, test } from '@jest/globals';
import { saveMemory } from '../../src/platform/memory.js';
import { createTestClock } from '../support/testClock.js';

test('V8 is to prefer memory while the process is idle, and only then', async () => {
  const clock = createTestClock();
  const flags: string[] = [];
  let share = 0.9;
  saveMemory(clock, {
    busyShare: () => share,
    setFlag: (flag) => {
      flags.push(flag);
    },
  });
  expect(flags.splice(0)).toEqual(['--heap-growing-percent=40', '--no-allocation-site-pretenuring']);

  const flagsAfter = async (ms: number, next: number): Promise<readonly string[]> => {
    share = next;
    await clock.advance(ms);
    return flags.splice(0);
  };
  expect(await flagsAfter(2_000, 0.9)).toEqual([]);
  expect(await flagsAfter(1_900, 0.01)).toEqual([]);
  expect(await flagsAfter(100, 0.01)).toEqual(['--optimize-for-size']);
  expect(await flagsAfter(2_000, 0.02)).toEqual([]);
  // Requests that come after an idle time are not to wait for it.
  expect(await flagsAfter(100, 0.5)).toEqual(['--no-optimize-for-size']);
  expect(await flagsAfter(2_000, 0.5)).toEqual([]);
});
