import { expect, test } from '@jest/globals';
import { createLiveLog, type LiveLog } from '../../../src/events/store/liveLog.js';
import type { LiveEvent } from '../../../src/events/store/recentEvents.js';
import { createTestClock } from '../../support/testClock.js';

const liveLog = (): LiveLog =>
  createLiveLog({
    clock: createTestClock(),
    maxEvents: 2_000,
    maxBytes: 4_000_000,
    reportMs: 250,
    follow: () => () => undefined,
  });

const eventAt = (position: number, type: string): LiveEvent => ({
  ...{ stream: 'thing-1', revision: BigInt(position), position: BigInt(position), type, bytes: 100 },
  decoded: () => null,
});

const filter = { types: ['Wanted'] };

test('the last event that matches, however many others follow within the reports', () => {
  const live = liveLog();
  live.begin(10n);
  expect(live.lastMatching(filter)).toBe(10n);
  live.add([eventAt(11, 'Wanted'), eventAt(12, 'Wanted'), eventAt(13, 'Other')]);
  expect(live.lastMatching(filter)).toBe(12n);
  expect(live.lastMatching({ types: ['Nothing'] })).toBe(10n);
  expect(live.lastMatching({ streamPrefixes: ['thing-'] })).toBe(13n);
});

test('what is further back counts as passed: the position before the events that were looked at', () => {
  const live = liveLog();
  live.begin(0n);
  live.add([eventAt(1, 'Wanted'), ...Array.from({ length: 1_000 }, (_, index) => eventAt(index + 2, 'Other'))]);
  expect(live.lastMatching(filter)).toBe(801n);
});
