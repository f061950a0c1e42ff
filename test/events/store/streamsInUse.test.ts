import { expect, test } from '@jest/globals';
import { EARLIEST, NO_STREAM, type StoredEvent, type StreamSlice } from '../../../src/events/store/eventStore.js';
import { createLiveLog } from '../../../src/events/store/liveLog.js';
import type { LiveEvent } from '../../../src/events/store/recentEvents.js';
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

/** A live log from its beginning, over a store whose next answers are `answers`. */
const openStreams = () => {
  const answers: Promise<StreamSlice>[] = [];
  const live = createLiveLog({
    ...{ clock: createTestClock(), maxEvents: 10, maxBytes: 10_000, reportMs: 1 },
    follow: () => {
      live.begin(0n);
      return () => undefined;
    },
  });
  const readStream = () => answers.shift() ?? Promise.reject(new Error('the stream is in memory'));
  return { live, answers, streams: createStreamsInUse({ live, readStream, reach: () => true }) };
};

const event = (revision: bigint): StoredEvent => ({ stream: 'thing-1', revision, position: revision + 1n }) as StoredEvent;

const toLive = (stored: StoredEvent): LiveEvent => ({ ...stored, type: 'Noted', bytes: 100, decoded: () => stored });

test('what is committed while a stream is read for the first time is in memory too', async () => {
  const { live, answers, streams } = openStreams();
  let answer: (slice: StreamSlice) => void = () => undefined;
  answers.push(new Promise((resolve) => (answer = resolve)));
  const first = streams.readStream('thing-1');
  live.add([toLive(event(0n))]);
  answer({ events: [], head: NO_STREAM });
  await first;
  expect(await streams.readStream('thing-1')).toEqual({ events: [event(0n)], head: 0n });
  live.close();
});

test('a stream is read again once the log goes on elsewhere', async () => {
  const { live, answers, streams } = openStreams();
  for (const head of [NO_STREAM, 0n]) {
    answers.push(Promise.resolve({ events: [], head }));
    expect((await streams.readStream('thing-1', { from: head + 1n })).head).toBe(head);
    expect((await streams.readStream('thing-1', { from: head + 1n })).head).toBe(head);
    live.begin(10n);
  }
  answers.push(Promise.resolve({ events: [], head: 1n }));
  expect((await streams.readStream('thing-1', { from: 1n })).head).toBe(1n);
  live.close();
});
