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

  const flagsAt = async (next: number): Promise<readonly string[]> => {
    share = next;
    await clock.advance(2_000);
    return flags.splice(0);
  };
  expect(await flagsAt(0.9)).toEqual([]);
  expect(await flagsAt(0.01)).toEqual(['--optimize-for-size']);
  expect(await flagsAt(0.02)).toEqual([]);
  expect(await flagsAt(0.5)).toEqual(['--no-optimize-for-size']);
  expect(await flagsAt(0.5)).toEqual([]);
});
