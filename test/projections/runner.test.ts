import { describe, expect, test } from '@jest/globals';
import { EventStoreUnavailable, type EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import type { AnyProjection } from '../../src/projections/projection.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import { ReadModelStoreUnavailable, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import {
  added,
  decodeThing,
  expectFolded,
  labelled,
  liveDocuments,
  modelOf,
  removed,
  thingEvent,
  thingProjection,
  thingWorld,
  untilReached,
} from '../support/things.js';

const model = modelOf('1');

/** A projection that throws over a label, and quotes the label in the message. */
const throwing: AnyProjection = {
  ...thingProjection,
  name: 'throwing',
  evolve: (document: never, event: Parameters<typeof thingProjection.evolve>[1]) => {
    if (event.data.label === 'kim@example.com') throw new TypeError(`cannot take ${event.data.label}`);
    return thingProjection.evolve(document, event);
  },
};

describe('a projector', () => {
  test('applies the history, then new events', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await append(added('a'), added('b'), labelled('a', 'A'), removed('b'));
    await projector().start();
    await untilReached(thingProjection, readModels, 4n);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(new Map([['a', { label: 'A', revisions: [0, 1] }]]));

    await untilReached(thingProjection, readModels, await append(added('b'), labelled('a', 'AA')));
    expect(await readModels.get(model, 'a')).toEqual({
      id: 'a',
      revision: 2n,
      position: 6n,
      body: { label: 'AA', revisions: [0, 1, 2] },
    });
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('lets events gather after a batch of several, when it is told to, and stops without waiting for that', async () => {
    const { append, projector, readModels } = await thingWorld();
    const clock = createTestClock();
    const applied: bigint[] = [];
    const counting: ReadModelStore = {
      ...readModels,
      apply: (applyTo, writes, checkpoint, options) => {
        if (writes.length > 0) applied.push(checkpoint);
        return readModels.apply(applyTo, writes, checkpoint, options);
      },
    };
    const gathering = projector({ clock, readModels: counting, gatherMs: 40 });
    await gathering.start();
    await untilReached(thingProjection, readModels, await append(added('a')));
    await untilReached(thingProjection, readModels, await append(added('b')));
    expect(applied).toEqual([1n, 2n]);
    await untilReached(thingProjection, readModels, await append(added('c'), added('d')));
    await append(added('e'));
    await append(added('f'));
    await clock.advance(39);
    expect(applied).toEqual([1n, 2n, 4n]);
    await clock.advance(1);
    await untilReached(thingProjection, readModels, 6n);
    expect(applied).toEqual([1n, 2n, 4n, 6n]);
    await gathering.stop();
  });

  test('on its first start publishes at once, so that reads work while it fills', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await append(added('a'));
    const silent: EventStore = { ...eventStore, subscribe: ({ signal }) => nothing(signal) };
    await projector({ eventStore: silent }).start();
    expect(await readModels.liveVersion('thing')).toBe('1');
    expect(await readModels.checkpoint(model)).toBe(0n);
  });

  test('moves the checkpoint past events that it does not handle', async () => {
    const clock = createTestClock();
    const { append, projector, readModels } = await thingWorld(clock);
    await projector().start();
    const position = await append(thingEvent('SomethingElse', 'x'));
    const waiting = untilReached(thingProjection, readModels, position);
    await eventually('storing the quiet checkpoint', async () => {
      await clock.advance(50);
      return (await readModels.checkpoint(model)) >= position ? true : undefined;
    });
    await waiting;
  });

  test('goes on where it stopped, without applying anything twice', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    const first = projector();
    await first.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', '1')));
    await first.stop();
    await append(labelled('a', '2'), added('b'));

    const taken: bigint[] = [];
    const seeing: ReadModelStore = {
      ...readModels,
      apply: (target, writes, checkpoint) => {
        taken.push(...writes.map(({ position }) => position));
        return readModels.apply(target, writes, checkpoint);
      },
    };
    await projector({ readModels: seeing }).start();
    await untilReached(thingProjection, readModels, 4n);
    expect(taken).toEqual([3n, 4n]);
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('repeats nothing when it ends between writing the documents and the checkpoint', async () => {
    // A store without transactions writes the documents first. Here the checkpoint never follows.
    const { append, projector, readModels, eventStore } = await thingWorld();
    await append(added('a'), labelled('a', '1'), added('b'), removed('b'));
    let crash = (_: Error): void => undefined;
    const crashed = new Promise<never>((_, reject) => (crash = reject));
    const halting: ReadModelStore = {
      ...readModels,
      apply: async (target, writes) => {
        await readModels.apply(target, writes, 0n);
        return crashed;
      },
    };
    await projector({ readModels: halting }).start();
    await eventually('the documents', async () => (await readModels.get(model, 'a')) ?? undefined);
    expect(await readModels.checkpoint(model)).toBe(0n);

    // One batch holds repeated and new events, which differ only in their positions.
    const position = await append(labelled('a', '2'));
    await projector().start();
    await untilReached(thingProjection, readModels, position);
    await expectFolded(thingProjection, readModels, eventStore);
    crash(new ReadModelStoreUnavailable('gone'));
  });

  test('reports its status', async () => {
    const { append, projector, readModels } = await thingWorld();
    const working = projector();
    expect(await working.status()).toEqual([]);
    await working.start();
    const position = await append(added('a'));
    await untilReached(thingProjection, readModels, position);
    const following = {
      name: 'thing',
      version: 1,
      writes: '1',
      state: 'following',
      position,
      lag: { position, positions: 0n, ms: 0 },
      failure: null,
    };
    await eventually('the position', async () => ((await working.status())[0]?.position === position ? true : undefined));
    expect(await working.status()).toEqual([following]);
    await working.stop();
    await append(added('b'));
    expect(await working.status()).toEqual([
      { ...following, state: 'stopped', lag: { position, positions: 1n, ms: expect.any(Number) as unknown as number } },
    ]);
  });
});

describe('an event that a projection cannot take', () => {
  test('stops only that projection, is logged, and reveals no personal data', async () => {
    const { append, projector, readModels, eventStore, lines } = await thingWorld();
    await append(
      added('a'),
      labelled('a', 'one'),
      added('b'),
      labelled('a', 'kim@example.com'),
      labelled('a', 'after'),
      added('c'),
    );
    const working = projector({ projections: [throwing, thingProjection] });
    await working.start();
    await untilReached(thingProjection, readModels, 6n);
    await eventually('the failure', () => lines.find(({ level }) => level === 'error'));

    const [failed, other] = await working.status();
    expect(failed).toMatchObject({
      state: 'failed',
      position: 3n,
      lag: { positions: 3n },
      failure: { position: 4n, eventType: 'ThingLabelled' },
    });
    expect(failed?.failure?.message).toMatch(
      /^the throwing projection failed at position 4 over ThingLabelled: TypeError at runner\.test\.ts:\d+$/,
    );
    expect(other).toMatchObject({ state: 'following', position: 6n, failure: null });
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([
      {
        level: 'error',
        fields: { projection: 'throwing', position: '4', type: 'ThingLabelled' },
        message: failed?.failure?.message,
      },
    ]);

    // Everything before the event is in, nothing after it.
    expect(await liveDocuments(throwing, readModels)).toEqual(
      new Map([
        ['a', { label: 'one', revisions: [0, 1] }],
        ['b', { label: 'b', revisions: [0] }],
      ]),
    );
    expect(await readModels.checkpoint({ ...model, name: 'throwing' })).toBe(3n);

    await untilReached(thingProjection, readModels, await append(added('d')));
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test.each(['decode', 'documentId'])('also when it is %s that throws', async (place) => {
    const { append, projector, eventStore, readModels } = await thingWorld();
    await append(added('a'), labelled('a', 'poison'), labelled('a', 'after'));
    const throwOver = ({ data }: { data: unknown }): never => {
      throw new RangeError(JSON.stringify(data));
    };
    const working = projector({
      projections: [
        {
          ...thingProjection,
          documentId: (event: Parameters<typeof thingProjection.documentId>[0]) =>
            place === 'documentId' && event.data.label === 'poison' ? throwOver(event) : event.data.id,
        },
      ],
      decode: (stored) => (place === 'decode' && stored.data['label'] === 'poison' ? throwOver(stored) : decodeThing(stored)),
    });
    await working.start();
    const failed = await eventually('the failure', async () => (await working.status()).find(({ state }) => state === 'failed'));
    expect(failed.failure).toMatchObject({ position: 2n, eventType: 'ThingLabelled' });
    expect(failed.failure?.message).not.toContain('poison');
    expect((await readModels.get(model, 'a'))?.position).toBe(1n);
    expect(await eventStore.lastPosition()).toBe(3n);
  });

  test('a fixed build goes on from there', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await append(added('a'), labelled('a', 'kim@example.com'), labelled('a', 'after'));
    const broken = projector({ projections: [{ ...throwing, name: 'thing' }] });
    await broken.start();
    const storedFailure = async () => {
      const [status] = await projectionStatus([thingProjection], { eventStore, readModels, clock: systemClock });
      return status?.failure ?? undefined;
    };
    // Any process can read it, not only the one with the projector.
    const failure = await eventually('the failure', storedFailure);
    expect(failure).toEqual({ position: 2n, message: (await broken.status())[0]?.failure?.message });
    await broken.stop();
    expect((await broken.status())[0]?.state).toBe('failed');
    expect(await storedFailure()).toEqual(failure);

    await projector().start();
    await untilReached(thingProjection, readModels, 3n);
    await expectFolded(thingProjection, readModels, eventStore);
    expect(await storedFailure()).toBeUndefined();
  });
});

describe('store faults', () => {
  const methods = ['liveVersion', 'prepare', 'publish', 'checkpoint', 'getMany', 'apply'] as const;

  test.each(methods)('%s of the read-model store: the projection goes on from its checkpoint', async (method) => {
    const { append, projector, readModels, eventStore, lines } = await thingWorld();
    await append(added('a'));
    let failures = 0;
    const failing: ReadModelStore = {
      ...readModels,
      [method]: (...args: never[]) => {
        failures += 1;
        if (failures <= 2) return Promise.reject(new ReadModelStoreUnavailable('down'));
        return (readModels[method] as (...args: never[]) => Promise<unknown>)(...args);
      },
    };
    const working = projector({ readModels: failing });
    await working.start();
    await eventually('the read model', async () =>
      (await liveDocuments(thingProjection, readModels)).size === 1 ? true : undefined,
    );
    // Of the history every document is in memory; now it is loaded.
    await append(labelled('a', '1'));
    await untilReached(thingProjection, readModels, 2n);
    await expectFolded(thingProjection, readModels, eventStore);
    expect(lines.filter(({ message }) => message.startsWith('a store failed'))).toHaveLength(2);
    expect((await working.status())[0]?.state).toBe('following');
  });

  test.each(['throws', 'ends'])('a subscription that %s: the next one goes on without gap or duplicate', async (how) => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await append(...Array.from({ length: 12 }, (_, index) => (index === 0 ? added('a') : labelled('a', String(index)))));
    const asked: bigint[] = [];
    const breaking: EventStore = {
      ...eventStore,
      async *subscribe(options) {
        asked.push(options.after);
        let batches = 0;
        for await (const slice of eventStore.subscribe({ ...options, maxBatch: 2 })) {
          yield slice;
          batches += 1;
          if (batches === 2 && how === 'throws') throw new EventStoreUnavailable('dropped');
          if (batches === 2) return;
        }
      },
    };
    await projector({ eventStore: breaking }).start();
    await untilReached(thingProjection, readModels, 12n);
    expect(asked.slice(0, 3)).toEqual([0n, 4n, 8n]);
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('it retries with backoff, and reports that it does', async () => {
    const clock = createTestClock();
    const { projector, readModels, lines } = await thingWorld(clock);
    let down = true;
    const failing: ReadModelStore = {
      ...readModels,
      liveVersion: (name) => (down ? Promise.reject(new ReadModelStoreUnavailable('down')) : readModels.liveVersion(name)),
    };
    const working = projector({ readModels: failing });
    await working.start();
    expect((await working.status())[0]?.state).toBe('retrying');
    await clock.advance(60_000);
    const attempts = lines.filter(({ message }) => message.startsWith('a store failed')).length;
    // 100 ms, doubled up to 10 s, each shortened by up to a half: between 11 and 20 attempts in the
    // first minute.
    expect(attempts).toBeGreaterThanOrEqual(11);
    expect(attempts).toBeLessThanOrEqual(20);

    down = false;
    await clock.advance(10_000);
    expect((await working.status())[0]?.state).toBe('following');
    await working.stop();
    expect(clock.pending()).toBe(0);
  });

  test('stopping does not wait for the end of a backoff', async () => {
    const clock = createTestClock();
    const { projector, readModels } = await thingWorld(clock);
    const failing: ReadModelStore = { ...readModels, liveVersion: () => Promise.reject(new ReadModelStoreUnavailable('down')) };
    const working = projector({ readModels: failing });
    await working.start();
    await working.stop();
    expect((await working.status())[0]?.state).toBe('stopped');
  });
});

describe('deleted documents', () => {
  test('their tombstones go an hour after the checkpoint has passed them', async () => {
    const clock = createTestClock();
    const { append, projector, readModels } = await thingWorld(clock);
    await projector().start();
    await untilReached(thingProjection, readModels, await append(added('a'), removed('a'), added('b'), removed('b')));
    const guards = async (id: string): Promise<boolean> => {
      await readModels.apply(model, [{ id, revision: 0n, position: 1n, body: { label: 'old' } }], 0n);
      return (await readModels.get(model, id)) === null;
    };

    const hour = async (): Promise<void> => {
      await clock.advance(3_600_000);
      await untilReached(thingProjection, readModels, await append(added('other')));
    };
    await hour();
    expect(await guards('b')).toBe(true);
    await hour();
    await eventually('the purge', async () => ((await guards('b')) ? undefined : true));
  });
});

/** A subscription without events. */
async function* nothing(signal: AbortSignal): AsyncGenerator<never> {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
  yield* [];
}
