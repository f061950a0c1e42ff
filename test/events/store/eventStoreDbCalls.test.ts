import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { catchUp } from '../../../src/events/store/eventStoreDb/catchUp.js';
import { createCalls } from '../../../src/events/store/eventStoreDb/calls.js';
import { NotConnected } from '../../../src/events/store/eventStoreDb/faults.js';
import type { ReadAnswer } from '../../../src/events/store/eventStoreDb/readAnswer.js';
import { toWire, type WireRecord } from '../../../src/events/store/eventStoreDb/records.js';
import type { Wire } from '../../../src/events/store/eventStoreDb/wire.js';
import { OutcomeUnknown } from '../../../src/events/store/eventStore.js';
import { systemRandom } from '../../../src/platform/random.js';
import { createTestClock } from '../../support/testClock.js';

test('an append whose outcome was reported as unknown is not retried', async () => {
  const clock = createTestClock();
  let attempts = 0;
  const append: Wire['append'] = (_request, _signal, onSent) => {
    attempts += 1;
    // Ends an endless retry: no correct backoff makes so many attempts in 3.5 s.
    if (attempts > 1_000) return new Promise(() => undefined);
    if (attempts > 1) return Promise.reject(new NotConnected());
    onSent();
    return Promise.reject(new Error('the connection broke'));
  };
  const calls = createCalls({ append } as unknown as Wire, { clock, random: systemRandom });
  const outcome = calls.append({ stream: 'thing-1', events: [], expected: -1n }).catch((error: unknown) => error);
  await clock.advance(3_500);
  expect(await outcome).toBeInstanceOf(OutcomeUnknown);
  const before = attempts;
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect(before).toBeLessThan(100);
  expect(attempts).toBe(before);
});

test('no event is delivered twice when a node has not indexed the last event seen and starts with it', async () => {
  const subscribe = (): AsyncIterable<ReadAnswer> =>
    (async function* () {
      await nextTurn();
      for (const position of [5n, 9n]) yield { kind: 'event', record: recordAt(position) };
      yield { kind: 'caught up' };
    })();
  const options = { after: 5n, through: 9n, filter: undefined, maxBatch: 10, silenceMs: 1_000 };
  const { signal } = new AbortController();
  const received: bigint[] = [];
  for await (const { events } of catchUp({ subscribe } as unknown as Wire, createTestClock(), { ...options, signal }))
    received.push(...events.map(({ position }) => position));
  expect(received).toEqual([9n]);
});

const recordAt = (position: bigint): WireRecord => ({
  ...toWire({ id: 'id', type: 'Happened', schemaVersion: 1, data: '{}', metadata: '{}' }, '2026-01-01T00:00:00.000Z'),
  stream: 'thing-1',
  revision: position,
  position,
});
