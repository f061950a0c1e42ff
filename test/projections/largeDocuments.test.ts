import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createCatchUp } from '../../src/projections/runner/catchUp.js';
import { rebuildProjection } from '../../src/projections/runner/rebuild.js';
import type { ReadModelStore } from '../../src/projections/store/readModelStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { added, decodeThing, expectFolded, labelled, thingProjection, thingWorld } from '../support/things.js';

/** 80 things, of which the first seven are labelled anew again and again. */
const events = [
  ...Array.from({ length: 80 }, (_, index) => added(`t${String(index)}`, 'new')),
  ...Array.from({ length: 40 }, (_, index) => labelled(`t${String(index % 7)}`, String(index))),
];

/** Rebuilds from slices of ten events that take so many bytes; counts writes, and documents that are read again. */
const rebuiltWith = async (bytes: number) => {
  const { append, readModels, eventStore } = await thingWorld();
  await append(...events);
  const counts = { writes: 0, readAgain: 0 };
  const sized: EventStore = {
    ...eventStore,
    async *subscribe(options) {
      for await (const slice of eventStore.subscribe({ ...options, maxBatch: 10 })) yield { ...slice, bytes };
    },
  };
  const counting: ReadModelStore = {
    ...readModels,
    apply: (...args) => {
      counts.writes += 1;
      return readModels.apply(...args);
    },
    getMany: async (...args) => {
      const found = await readModels.getMany(...args);
      counts.readAgain += found.size;
      return found;
    },
  };
  const parts = { eventStore: sized, readModels: counting, decode: decodeThing, clock: systemClock, random: systemRandom };
  await rebuildProjection('thing', { ...parts, projections: [thingProjection], catchUp: createCatchUp(parts) });
  await expectFolded(thingProjection, readModels, eventStore);
  return counts;
};

test('a rebuild writes large documents soon, and does not keep them in memory', async () => {
  const [large, small] = [await rebuiltWith(40_000_000), await rebuiltWith(4_000)];
  expect(small).toEqual({ writes: 1, readAgain: 0 });
  expect(large.writes).toBeGreaterThanOrEqual(12);
  expect(large.readAgain).toBeGreaterThan(0);
});
