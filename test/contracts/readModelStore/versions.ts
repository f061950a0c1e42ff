import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { START } from '../../../src/events/store/eventStore.js';
import { ReadModelDropped, type ReadModel } from '../../../src/projections/store/readModelStore.js';
import { everything, sites, sitesNext, write, type OpenedStore } from './support.js';

export const versionsContract = (given: OpenedStore): void => {
  describe('versions', () => {
    test('stand side by side', async () => {
      await given.store.prepare(sitesNext);
      await given.store.apply(sites, [write('a', 1, { status: 'old' })], 1n);
      await given.store.apply(sitesNext, [write('a', 1, { status: 'new' })], 1n);
      expect((await given.store.get(sites, 'a'))?.body).toEqual({ status: 'old' });
      expect((await given.store.get(sitesNext, 'a'))?.body).toEqual({ status: 'new' });
      expect(await given.ids({ where: { status: 'new' } })).toEqual([]);
      expect(await given.ids({ where: { status: 'new' } }, sitesNext)).toEqual(['a']);
    });

    test('none is live before the first is published', async () => {
      expect(await given.store.liveVersion('site')).toBeNull();
      await given.store.publish(sites);
      expect(await given.store.liveVersion('site')).toBe('1');
      expect(await given.store.liveVersion('other')).toBeNull();
    });

    test('publishing swaps at once for every process, and drops the others', async () => {
      const other = await given.harness.open();
      await given.store.publish(sites);
      await given.store.apply(sites, [write('a', 1, { status: 'old' }), write('b', 1, { status: 'old' })], 1n);
      expect((await other.get(sites, 'a'))?.body).toEqual({ status: 'old' });

      await given.store.prepare(sitesNext);
      await given.store.apply(sitesNext, [write('a', 1, { status: 'new' })], 1n);
      await given.store.publish(sitesNext);

      expect(await other.liveVersion('site')).toBe('2');
      expect((await other.get(sitesNext, 'a'))?.body).toEqual({ status: 'new' });
      for (const reader of [given.store, other]) {
        await expect(reader.get(sites, 'a')).rejects.toThrow(ReadModelDropped);
        await expect(reader.get(sites, 'never written')).rejects.toThrow(ReadModelDropped);
        await expect(reader.getMany(sites, ['a'])).rejects.toThrow(ReadModelDropped);
        await expect(reader.find(sites, everything)).rejects.toThrow(ReadModelDropped);
        await expect(reader.find(sites, { ...everything, where: { status: 'old' } })).rejects.toThrow(ReadModelDropped);
        await expect(reader.checkpoint(sites)).rejects.toThrow(ReadModelDropped);
      }
    });

    test('a sweep removes nothing of a version that is there, live or not, and may be repeated', async () => {
      const building: ReadModel = { ...sites, version: '3' };
      for (const model of [sites, sitesNext, building]) {
        await given.store.prepare(model);
        await given.store.apply(model, [write('a', 1, { status: model.version })], 1n);
        if (model === sitesNext) await given.store.publish(model);
      }
      const other = await given.harness.open();
      await Promise.all([given.store.sweep(), given.store.sweep(), other.sweep()]);
      await given.store.sweep();
      expect(await given.ids({ where: { status: '2' } }, sitesNext)).toEqual(['a']);
      expect(await given.ids({ where: { status: '3' } }, building)).toEqual(['a']);
      await expect(given.store.get(sites, 'a')).rejects.toThrow(ReadModelDropped);
    });

    test('from the swap on nothing is answered from a version that is being dropped', async () => {
      const other = await given.harness.open();
      const many = Array.from({ length: 3_000 }, (_, index) => write(`m${String(index).padStart(4, '0')}`, 1, { status: 'old' }));
      await given.store.apply(sites, many, 1n);
      expect(await other.get(sites, 'm2999')).not.toBeNull();
      await given.store.prepare(sitesNext);

      let rounds = 0;
      const readDropped = async (): Promise<void> => {
        while ((await other.liveVersion('site')) !== '2') await turn();
        await expect(other.get(sites, 'm2999')).rejects.toThrow(ReadModelDropped);
        await expect(other.getMany(sites, ['m2998', 'm2999'])).rejects.toThrow(ReadModelDropped);
        await expect(other.find(sites, { ...everything, order: 'descending', limit: 3 })).rejects.toThrow(ReadModelDropped);
        rounds += 1;
      };
      const publishing = given.store.publish(sitesNext);
      while (rounds < 20) await Promise.all([readDropped(), turn()]);
      await publishing;
    });

    test('a dropped version can be neither written nor published', async () => {
      const other = await given.harness.open();
      await other.apply(sites, [write('a', 1, {})], 1n);
      await given.store.prepare(sitesNext);
      await given.store.publish(sitesNext);

      await expect(other.apply(sites, [write('a', 2, {})], 2n)).rejects.toThrow(ReadModelDropped);
      await expect(other.apply(sites, [], 2n)).rejects.toThrow(ReadModelDropped);
      await expect(other.publish(sites)).rejects.toThrow(ReadModelDropped);
      expect(await other.liveVersion('site')).toBe('2');
    });

    test('a dropped version that is prepared again is empty and takes every position again', async () => {
      await given.store.apply(sites, [write('a', 5, { status: 'old' }), write('b', 5, null)], 5n);
      await given.store.prepare(sitesNext);
      await given.store.publish(sitesNext);
      await given.store.prepare(sites);
      expect(await given.store.checkpoint(sites)).toBe(START);
      expect(await given.store.get(sites, 'a')).toBeNull();
      expect(await given.ids({ where: { status: 'old' } })).toEqual([]);
      await given.store.apply(sites, [write('a', 1, {}), write('b', 2, {})], 2n);
      expect(await given.ids()).toEqual(['a', 'b']);
      expect(await given.store.checkpoint(sites)).toBe(2n);
    });

    test('publishing drops a large version whole and leaves other models alone', async () => {
      const neighbour: ReadModel = { name: 'neighbour', version: '1', indexes: sites.indexes };
      await given.store.prepare(neighbour);
      const many = Array.from({ length: 1_200 }, (_, index) => write(`m${String(index)}`, 1, { status: 'many' }));
      await given.store.apply(sites, many, 1n);
      await given.store.apply(neighbour, many.slice(0, 3), 1n);
      await given.store.prepare(sitesNext);
      await given.store.publish(sitesNext);
      expect(await given.ids({}, sitesNext)).toEqual([]);
      expect(await given.ids({ where: { status: 'many' } }, neighbour)).toEqual(['m0', 'm1', 'm2']);
    });

    test('preparing and publishing again changes nothing', async () => {
      await given.store.publish(sites);
      await given.store.apply(sites, [write('a', 1, {})], 1n);
      await given.store.prepare(sites);
      await given.store.publish(sites);
      expect((await given.store.get(sites, 'a'))?.position).toBe(1n);
      expect(await given.store.checkpoint(sites)).toBe(1n);
    });

    test('what was never prepared cannot be used', async () => {
      await expect(given.store.get(sitesNext, 'a')).rejects.toThrow(ReadModelDropped);
      await expect(given.store.apply(sitesNext, [], 1n)).rejects.toThrow(ReadModelDropped);
    });
  });
};
