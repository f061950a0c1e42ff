import { describe, expect, test } from '@jest/globals';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import { workerStatus } from '../../src/workers/workerStatus.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import { added, labelled, modelOf, thingEvent, thingProjection, thingWorld, untilReached } from '../support/things.js';

const quietProjection = { ...thingProjection, name: 'quiet', handles: ['QuietThing'] };

const worker = (name: string, types: readonly string[]): Worker => ({
  name,
  reactsTo: { types },
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
});

/** Counts what is asked of the log. */
const counting = (eventStore: EventStore) => {
  const asked = { calls: 0, events: 0, unbounded: 0 };
  const counted: EventStore = {
    ...eventStore,
    lastPosition: (filter) => {
      asked.calls += 1;
      return eventStore.lastPosition(filter);
    },
    readAll: async (options) => {
      asked.calls += 1;
      // Whoever filters may read on to the end of the log.
      if (options.filter !== undefined || (options.max ?? 1_000) > 100) asked.unbounded += 1;
      const slice = await eventStore.readAll(options);
      asked.events += slice.events.length;
      return slice;
    },
  };
  return { asked, eventStore: counted };
};

const noise = 3_000;

describe('the status of a log that grows', () => {
  test('costs no read of it while quiet models keep up', async () => {
    const world = await thingWorld();
    const { append, projector, readModels } = world;
    await append(added('a'));
    await projector({ projections: [thingProjection, quietProjection] }).start();
    for (let index = 0; index < 10; index += 1) await append(labelled('a', String(index)));
    const end = await world.eventStore.lastPosition();
    await untilReached(thingProjection, readModels, end);
    await untilReached(quietProjection, readModels, end);
    const { asked, eventStore } = counting(world.eventStore);
    const status = await projectionStatus([thingProjection, quietProjection], { ...world, eventStore, clock: systemClock });
    expect(status.map(({ lag }) => lag)).toStrictEqual([
      { position: end, positions: 0n, ms: 0 },
      { position: end, positions: 0n, ms: 0 },
    ]);
    expect(asked).toStrictEqual({ calls: 1, events: 0, unbounded: 0 });
  });

  test('costs a few events of it for each model and worker that is far behind', async () => {
    const world = await thingWorld();
    const { append, projector, readModels } = world;
    await append(added('a'));
    const working = projector({ projections: [thingProjection, quietProjection] });
    await working.start();
    await untilReached(quietProjection, readModels, 1n);
    await working.stop();
    for (let index = 0; index < noise; index += 500) {
      const events = Array.from({ length: 500 }, (_, at) => thingEvent('Noise', `${index + at}`));
      await world.eventStore.append('noise', events, 'any');
    }
    await append(thingEvent('QuietThing', 'a'));
    const { asked, eventStore } = counting(world.eventStore);
    const parts = { ...world, eventStore, clock: systemClock };
    const status = await projectionStatus([thingProjection, quietProjection], parts);
    const behind = status.map(({ lag }) => [lag?.position, (lag?.positions ?? 0n) > 0n]);
    expect(behind).toStrictEqual([
      [1n, true],
      [1n, true],
    ]);
    const workers = [worker('busy', ['Noise']), worker('quiet', ['QuietThing']), worker('idle', ['Never'])];
    const lags = await workerStatus(workers, { eventStore, records: readModels.records, clock: systemClock });
    expect(lags.map(({ positions }) => positions > 0n)).toStrictEqual([true, true, true]);
    expect(asked.unbounded).toBe(0);
    expect(asked.calls).toBeLessThanOrEqual(2 + 2 * 5);
    expect(asked.events).toBeLessThanOrEqual(5 * 16);
  });

  test('the age of what is behind is that of the oldest event that matches, where it is near', async () => {
    const world = await thingWorld();
    const { append, projector, readModels } = world;
    await append(added('a'));
    const working = projector();
    await working.start();
    await untilReached(thingProjection, readModels, 1n);
    await working.stop();
    await append(thingEvent('SomethingElse', 'x'));
    const before = systemClock.now();
    await eventually('a millisecond', () => Promise.resolve(systemClock.now() > before + 2 ? true : undefined));
    await append(added('b'));
    const { events } = await world.eventStore.readAll({ after: 2n });
    const later = { ...systemClock, now: () => Date.parse(events[0]?.recordedAt ?? '') + 60_000 };
    const [status] = await projectionStatus([thingProjection], { ...world, clock: later });
    expect(status?.lag).toStrictEqual({ position: 1n, positions: 2n, ms: 60_000 });
  });
});

describe('the status', () => {
  test('distinguishes live, unpublished and superseded, and has the lag', async () => {
    const clock = createTestClock(Date.now() + 3_600_000);
    const world = await thingWorld(clock);
    const { append, projector, readModels } = world;
    const status = () => projectionStatus([thingProjection], { ...world, clock });
    await append(added('a'));
    expect(await status()).toEqual([
      { name: 'thing', version: 1, liveVersion: null, state: 'unpublished', lag: null, failure: null, parked: [] },
    ]);

    const working = projector();
    await working.start();
    await untilReached(thingProjection, readModels, 1n);
    expect(await status()).toEqual([
      {
        name: 'thing',
        version: 1,
        liveVersion: '1',
        state: 'live',
        lag: { position: 1n, positions: 0n, ms: 0 },
        failure: null,
        parked: [],
      },
    ]);

    await working.stop();
    await append(added('b'), thingEvent('SomethingElse', 'x'), added('c'));
    const [behind] = await status();
    expect(behind?.lag).toMatchObject({ position: 1n, positions: 3n });
    // The oldest missing event was recorded just now, by a clock an hour behind this one.
    expect(behind?.lag?.ms).toBeGreaterThan(3_000_000);
    expect(behind?.lag?.ms).toBeLessThanOrEqual(3_600_000);

    await readModels.prepare(modelOf('7'));
    await readModels.publish(modelOf('7'));
    expect(await status()).toMatchObject([{ liveVersion: '7', state: 'superseded', lag: null }]);
  });
});
