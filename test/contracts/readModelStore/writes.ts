import { describe, expect, test } from '@jest/globals';
import { START } from '../../../src/events/store/eventStore.js';
import { ReadModelDropped, type ReadModel } from '../../../src/projections/store/readModelStore.js';
import { never, sites, sitesNext, write, type OpenedStore } from './support.js';

export const writesContract = (given: OpenedStore): void => {
  describe('checkpoint', () => {
    test('those of many models move together, forward only, and wake whoever waits for one', async () => {
      const others: ReadModel = { name: 'other', version: '1', indexes: [] };
      await given.store.prepare(others);
      await given.store.apply(sites, [], 9n);
      const reached = (await given.harness.open()).reached(others, 7n, never());
      await given.store.advance([
        { model: sites, position: 5n },
        { model: others, position: 7n },
        { model: sitesNext, position: 7n },
      ]);
      expect(await reached).toBe(true);
      expect([await given.store.checkpoint(sites), await given.store.checkpoint(others)]).toEqual([9n, 7n]);
      // It was left out, because it was never prepared.
      await expect(given.store.checkpoint(sitesNext)).rejects.toThrow(ReadModelDropped);
      await given.store.advance([]);
    });

    test('moves forward and never back, with and without documents', async () => {
      await given.store.apply(sites, [], 9n);
      expect(await given.store.checkpoint(sites)).toBe(9n);
      await given.store.apply(sites, [write('a', 4, {})], 4n);
      expect(await given.store.checkpoint(sites)).toBe(9n);
      expect((await given.store.get(sites, 'a'))?.position).toBe(4n);
    });

    test('belongs to its model and version', async () => {
      const others: ReadModel = { name: 'other', version: '1', indexes: [] };
      await given.store.prepare(others);
      await given.store.prepare(sitesNext);
      await given.store.apply(sites, [write('a', 3, {})], 3n);
      expect(await given.store.checkpoint(others)).toBe(START);
      expect(await given.store.checkpoint(sitesNext)).toBe(START);
      expect(await given.store.get(others, 'a')).toBeNull();
    });

    test('reached: at once when it is there already, also at START', async () => {
      await given.store.apply(sites, [], 5n);
      expect(await given.store.reached(sites, START, never())).toBe(true);
      expect(await given.store.reached(sites, 5n, never())).toBe(true);
    });

    test('reached: as soon as it gets there, not before', async () => {
      const steps: string[] = [];
      const waiting = given.store.reached(sites, 5n, never()).then((reached) => steps.push(`reached ${String(reached)}`));
      await given.store.apply(sites, [], 4n);
      await given.store.checkpoint(sites);
      steps.push('moved to 4');
      await given.store.apply(sites, [], 6n);
      await waiting;
      expect(steps).toEqual(['moved to 4', 'reached true']);
    });

    test('reached: wakes by another store on the same data', async () => {
      const other = await given.harness.open();
      const waiting = Promise.all([1n, 2n, 3n].map((position) => given.store.reached(sites, position, never())));
      for (const position of [1n, 2n, 3n]) await other.apply(sites, [], position);
      expect(await waiting).toEqual([true, true, true]);
    });

    test('reached: false when it is aborted first, or was before', async () => {
      const abort = new AbortController();
      const waiting = given.store.reached(sites, 5n, abort.signal);
      abort.abort();
      expect(await waiting).toBe(false);
      expect(await given.store.reached(sites, 5n, abort.signal)).toBe(false);
    });

    test('reached: a version that is dropped meanwhile is not waited for', async () => {
      const other = await given.harness.open();
      await other.prepare(sitesNext);
      const waiting = expect(given.store.reached(sites, 5n, never())).rejects.toThrow(ReadModelDropped);
      await other.publish(sitesNext);
      await waiting;
    });
  });

  describe('writes in bulk', () => {
    const inBulk = { inBulk: true };

    test('are as any other: guarded by position, with indexes, counts, tombstones and the checkpoint', async () => {
      await given.store.apply(sites, [write('a', 2, { status: 'old' }), write('b', 3, { status: 'kept' })], 3n);
      const long = 'zäöü – 😀'.repeat(500);
      await given.store.apply(
        sites,
        [
          write('a', 5, { status: 'new', name: long, nested: { list: [1, null, 'two'] } }),
          write('b', 2, { status: 'older' }),
          write('c', 4, { status: 'new' }),
          write('d', 4, null),
        ],
        5n,
        inBulk,
      );
      expect(await given.ids({ where: { status: 'new' } })).toEqual(['a', 'c']);
      expect(await given.ids({ where: { status: ['old', 'older'] } })).toEqual([]);
      expect(await given.store.count(sites, { where: { status: 'new' } })).toBe(2);
      expect((await given.store.get(sites, 'a'))?.body).toEqual({
        status: 'new',
        name: long,
        nested: { list: [1, null, 'two'] },
      });
      expect((await given.store.get(sites, 'b'))?.body).toEqual({ status: 'kept' });
      expect(await given.store.checkpoint(sites)).toBe(5n);
      await given.store.apply(sites, [write('d', 3, { status: 'new' })], 5n);
      expect(await given.store.get(sites, 'd')).toBeNull();
    });

    test('take turns with each other and with other writes, and wake whoever waits', async () => {
      const reached = (await given.harness.open()).reached(sites, 20n, never());
      const positions = Array.from({ length: 20 }, (_, index) => BigInt(index + 1));
      await Promise.all(
        positions.map((position) =>
          given.store.apply(sites, [write('same', position, { status: String(position) })], position, {
            inBulk: position % 3n > 0n,
          }),
        ),
      );
      expect(await reached).toBe(true);
      expect(await given.ids({ where: { status: '20' } })).toEqual(['same']);
      expect(await given.store.count(sites, {})).toBe(1);
    });

    test('are refused like others, and go on after that', async () => {
      await expect(given.store.apply(sites, [write('\0', 1, {})], 1n, inBulk)).rejects.toThrow('not an id');
      await expect(given.store.apply(sitesNext, [write('a', 1, {})], 1n, inBulk)).rejects.toThrow(ReadModelDropped);
      await given.store.prepare(sitesNext);
      await given.store.apply(sitesNext, [write('a', 1, {})], 1n, inBulk);
      await given.store.publish(sitesNext);
      await expect(given.store.apply(sites, [write('a', 1, {})], 1n, inBulk)).rejects.toThrow(ReadModelDropped);
      expect(await given.ids({}, sitesNext)).toEqual(['a']);
    });

    test('are done when the store has closed', async () => {
      const writes = Array.from({ length: 500 }, (_, index) => write(`w${String(index)}`, index + 1, { status: 'new' }));
      const other = await given.harness.open();
      const writing = other.apply(sites, writes, 500n, inBulk);
      await Promise.all([writing, writing.then(() => other.close())]);
      expect(await given.store.count(sites, { where: { status: 'new' } })).toBe(500);
    });
  });

  describe('several stores on the same data', () => {
    test('write at once without losing or mixing anything', async () => {
      const stores = [given.store, await given.harness.open(), await given.harness.open()];
      await Promise.all(
        stores.map(async (writer, number) => {
          for (let position = 1; position <= 40; position += 1) {
            const shared = write('shared', position * 3 + number, { status: String(position * 3 + number) });
            await writer.apply(
              sites,
              [shared, write(`own-${String(number)}-${String(position)}`, position, { owner: String(number) })],
              BigInt(position),
            );
          }
        }),
      );
      expect((await given.store.get(sites, 'shared'))?.body).toEqual({ status: '122' });
      expect(await given.ids({ where: { status: '122' } })).toEqual(['shared']);
      expect(await given.ids({ where: { owner: '1' } })).toHaveLength(40);
      expect(await given.ids()).toHaveLength(121);
      expect(await given.store.checkpoint(sites)).toBe(40n);
    });

    test('what one wrote is there for one that opens later', async () => {
      await given.store.publish(sites);
      await given.store.apply(sites, [write('a', 1, { status: 'active' })], 1n);
      await given.store.close();
      given.store = await given.harness.open();
      expect(await given.ids({ where: { status: 'active' } })).toEqual(['a']);
      expect(await given.store.checkpoint(sites)).toBe(1n);
      expect(await given.store.liveVersion('site')).toBe('1');
    });
  });
};
