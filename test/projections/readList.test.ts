import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { readList } from '../../src/projections/runner/readList.js';
import { ProjectionBehind } from '../../src/projections/runner/versions.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import { added, rebuildThings, thingProjection, thingWorld } from '../support/things.js';

const everything = { order: 'ascending', limit: 100 } as const;

describe('a list', () => {
  test('reflects everything that was committed before the call', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await projector().start();
    for (let index = 0; index < 20; index += 1) {
      await append(added(`t${String(index).padStart(2, '0')}`, 'listed'));
      const found = await readList(
        thingProjection,
        { ...everything, where: { label: 'listed' } },
        { eventStore, readModels, clock: systemClock },
      );
      expect(found).toHaveLength(index + 1);
      expect(found.at(-1)?.body.revisions).toEqual([0]);
    }
  });

  test('fails when the projection has not caught up within 2 s', async () => {
    const clock = createTestClock();
    const { append, projector, readModels, eventStore } = await thingWorld(clock);
    const working = projector();
    await working.start();
    await working.stop();
    await append(added('a'));
    const list = readList(thingProjection, everything, { eventStore, readModels, clock }).then(
      () => 'answered',
      (fault: unknown) => fault,
    );
    await eventually('the waiting', () => (clock.pending() >= 2 ? true : undefined));
    await clock.advance(1_999);
    expect(await Promise.race([list, Promise.resolve('waiting')])).toBe('waiting');
    await clock.advance(1);
    const fault = await list;
    expect(fault).toBeInstanceOf(ProjectionBehind);
    expect(fault).toMatchObject({ projection: 'thing', retryAfterSeconds: 1 });
    expect(clock.pending()).toBe(0);
  });

  test('fails while no version is published', async () => {
    const { readModels, eventStore } = await thingWorld();
    await expect(readList(thingProjection, everything, { eventStore, readModels, clock: systemClock })).rejects.toThrow(
      ProjectionBehind,
    );
  });

  test('keeps waiting across a swap', async () => {
    const world = await thingWorld();
    const { append, projector, eventStore } = world;
    const working = projector();
    await working.start();
    await working.stop();
    await append(added('a'));
    const list = readList(thingProjection, everything, {
      eventStore,
      readModels: await world.openReadModels(),
      clock: createTestClock(),
    });
    await rebuildThings(world);
    expect((await list).map(({ id }) => id)).toEqual(['a']);
  });
});
