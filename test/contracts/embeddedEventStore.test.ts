import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import { NO_STREAM, START, WrongExpectedRevision, type NewEvent } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { createIds } from '../../src/platform/ids.js';
import { systemRandom } from '../../src/platform/random.js';
import { temporaryFolder } from '../support/temporary.js';

const ids = createIds(systemClock, systemRandom);

const newEvent = (type = 'Happened'): NewEvent => ({
  id: ids.commandId(),
  type,
  schemaVersion: 1,
  data: { answer: 42 },
  metadata: {
    at: '2026-01-01T00:00:00.000Z',
    actor: { subject: 'admin', role: 'admin', via: 'portal' },
    requestId: 'request',
    correlationId: 'correlation',
    causationId: 'causation',
  },
});

test('appends, reads, follows', async () => {
  const store = await createEmbeddedEventStore({ file: join(temporaryFolder(), 'events.sqlite'), clock: systemClock });
  const first = newEvent();
  const second = newEvent('HappenedAgain');
  expect(await store.append('thing-1', [first], NO_STREAM)).toEqual({ revision: 0n, position: 1n });
  expect(await store.append('thing-1', [first], NO_STREAM)).toEqual({ revision: 0n, position: 1n });
  await expect(store.append('thing-1', [second], NO_STREAM)).rejects.toThrow(WrongExpectedRevision);

  const seen: string[] = [];
  for await (const { events } of store.subscribe({ after: START, signal: new AbortController().signal })) {
    seen.push(...events.map(({ type }) => type));
    if (seen.length === 1) await store.append('thing-1', [second], 0n);
    else break;
  }
  expect(seen).toEqual(['Happened', 'HappenedAgain']);

  const slice = await store.readStream('thing-1');
  expect(slice).toMatchObject({
    head: 1n,
    events: [
      { ...first, revision: 0n },
      { ...second, revision: 1n },
    ],
  });
  expect(await store.readAll({ after: START, filter: { types: ['HappenedAgain'] } })).toMatchObject({
    position: 2n,
    events: [second],
  });
  expect(await store.lastPosition({ streamPrefixes: ['thing-'] })).toBe(2n);
  await store.close();
});
