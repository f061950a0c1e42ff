import { expect, test } from '@jest/globals';
import { EARLIEST, NO_STREAM, type StreamSlice } from '../../../src/events/store/eventStore.js';
import { createLiveLog } from '../../../src/events/store/liveLog.js';
import { createStreamsInUse } from '../../../src/events/store/streamsInUse.js';
import { createTestClock } from '../../support/testClock.js';

test('what this process appends while a stream is read for the first time is waited for', async () => {
  let answer: (slice: StreamSlice) => void = () => undefined;
  const reached: (bigint | null)[] = [];
  const live = createLiveLog({
    clock: createTestClock(),
    maxEvents: 10,
    maxBytes: 10_000,
    reportMs: 1,
    follow: () => {
      live.begin(0n);
      return () => undefined;
    },
  });
  const streams = createStreamsInUse({
    live,
    readStream: () => new Promise((resolve) => (answer = resolve)),
    reach: (position) => {
      reached.push(position);
      return true;
    },
  });
  const first = streams.readStream('thing-1');
  streams.appended('thing-1', 7n);
  answer({ events: [], head: NO_STREAM });
  await first;
  await streams.readStream('thing-1', { since: EARLIEST });
  expect(reached).toEqual([7n]);
  live.close();
});
