import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { createLiveLog, type LiveEvent } from '../../../src/events/store/liveLog.js';
import { createTestClock } from '../../support/testClock.js';

test('events of ever other categories, as of another program on the same log, take no memory for long', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const live = createLiveLog({
    clock: createTestClock(),
    maxEvents: 10,
    maxBytes: 4_000_000,
    reportMs: 250,
    follow: () => () => undefined,
  });
  live.begin(0n);
  const event = (position: number): LiveEvent => ({
    ...{
      stream: `${'x'.repeat(1_000)}${String(position)}-1`,
      revision: 0n,
      position: BigInt(position),
      type: 'Other',
      bytes: 100,
    },
    decoded: () => null,
  });
  const before = heapBytes();
  for (let position = 1; position <= 100_000; position += 1) live.add([event(position)]);
  expect(heapBytes() - before).toBeLessThan(20_000_000);
  // It is in use until here.
  expect(live.head()).toBe(100_000n);
});
