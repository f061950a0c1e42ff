import { describe, expect, test } from '@jest/globals';
import type { RecordEntry } from '../../../src/projections/store/readModelStore.js';
import { type OpenedStore } from './support.js';

export const recordsContract = (given: OpenedStore): void => {
  describe('records', () => {
    test('are put, read, replaced and deleted', async () => {
      expect(await given.store.records.get('leases', 'a')).toBeNull();
      await given.store.records.put('leases', 'a', { holder: 1 });
      await given.store.records.put('leases', 'a', { holder: 2 });
      expect(await given.store.records.get('leases', 'a')).toEqual({ holder: 2 });
      expect(await given.store.records.get('answers', 'a')).toBeNull();
      await given.store.records.delete('leases', 'a');
      await given.store.records.delete('leases', 'a');
      expect(await given.store.records.get('leases', 'a')).toBeNull();
    });

    test('insert writes only what is not there', async () => {
      expect(await given.store.records.insert('answers', 'a', { n: 1 })).toBe(true);
      expect(await given.store.records.insert('answers', 'a', { n: 2 })).toBe(false);
      expect(await given.store.records.get('answers', 'a')).toEqual({ n: 1 });
    });

    test('of many inserts at once, in several stores, exactly one writes', async () => {
      const others = await Promise.all([given.harness.open(), given.harness.open()]);
      const stores = [given.store, ...others];
      for (let round = 0; round < 5; round += 1) {
        const key = `key ${String(round)}`;
        const outcomes = await Promise.all(
          Array.from({ length: 30 }, async (_, n) =>
            (await stores[n % 3]?.records.insert('answers', key, { n })) === true ? n : null,
          ),
        );
        const winners = outcomes.filter((n) => n !== null);
        expect(winners).toHaveLength(1);
        expect(await given.store.records.get('answers', key)).toEqual({ n: winners[0] });
      }
    });

    test('replace writes only over what is expected', async () => {
      const { records } = given.store;
      const value = { n: 1, list: [{ b: null, '2': -0, 1: 1.5, a: 'é' }] };
      expect(await records.replace('answers', 'a', {}, { n: 0 })).toBe(false);
      expect(await records.get('answers', 'a')).toBeNull();
      await records.put('answers', 'a', value);
      expect(await records.replace('answers', 'b', value, { n: 2 })).toBe(false);
      expect(await records.replace('answers', 'a', { n: 1 }, { n: 2 })).toBe(false);
      const read = await records.get('answers', 'a');
      expect(read).toEqual({ ...value, list: [{ b: null, '2': 0, 1: 1.5, a: 'é' }] });
      expect(await records.replace('answers', 'a', read ?? {}, { n: 2 }, given.harness.now() + 1_000)).toBe(true);
      expect(await records.replace('answers', 'a', read ?? {}, { n: 3 })).toBe(false);
      expect(await records.get('answers', 'a')).toEqual({ n: 2 });
      expect(await records.replace('answers', 'a', { n: 2 }, { n: 2 }, given.harness.now() + 1_000)).toBe(true);
      await given.harness.advance(1_000);
      expect(await records.replace('answers', 'a', { n: 2 }, { n: 3 })).toBe(false);
      expect(await records.get('answers', 'a')).toBeNull();
    });

    test('of many replacements of one value, in several stores, exactly one writes', async () => {
      const stores = [given.store, await given.harness.open(), await given.harness.open()];
      for (let round = 0; round < 5; round += 1) {
        const key = `key ${String(round)}`;
        await given.store.records.put('answers', key, { n: -1 });
        const outcomes = await Promise.all(
          Array.from({ length: 30 }, async (_, n) =>
            (await stores[n % 3]?.records.replace('answers', key, { n: -1 }, { n })) === true ? n : null,
          ),
        );
        const winners = outcomes.filter((n) => n !== null);
        expect(winners).toHaveLength(1);
        expect(await given.store.records.get('answers', key)).toEqual({ n: winners[0] });
      }
    });

    test('are the same ones for what must not be lost', async () => {
      const { records, durableRecords } = given.store;
      expect(await durableRecords.insert('answers', 'a', { n: 1 })).toBe(true);
      expect(await records.insert('answers', 'a', { n: 2 })).toBe(false);
      expect(await durableRecords.replace('answers', 'a', { n: 1 }, { n: 2 })).toBe(true);
      expect(await records.get('answers', 'a')).toEqual({ n: 2 });
      await records.put('answers', 'a', { n: 3 }, given.harness.now() + 1);
      expect(await durableRecords.get('answers', 'a')).toEqual({ n: 3 });
      await durableRecords.put('answers', 'a', { n: 4 });
      await durableRecords.delete('answers', 'a');
      expect(await records.get('answers', 'a')).toBeNull();
    });

    test('an expired record is as good as absent', async () => {
      await given.store.records.put('answers', 'a', { n: 1 }, given.harness.now() + 1_000);
      await given.store.records.insert('answers', 'b', { n: 1 }, given.harness.now() + 1_000);
      await given.harness.advance(999);
      expect(await given.store.records.get('answers', 'a')).toEqual({ n: 1 });
      expect(await given.store.records.insert('answers', 'b', { n: 2 })).toBe(false);
      await given.harness.advance(1);
      expect(await given.store.records.get('answers', 'a')).toBeNull();
      expect(await given.store.records.insert('answers', 'b', { n: 2 }, given.harness.now() + 1_000)).toBe(true);
      expect(await given.store.records.insert('answers', 'b', { n: 3 })).toBe(false);
      expect(await given.store.records.get('answers', 'b')).toEqual({ n: 2 });
    });

    test('of many inserts over an expired record exactly one writes', async () => {
      const other = await given.harness.open();
      await given.store.records.put('leases', 'a', { n: -1 }, given.harness.now() + 1);
      await given.harness.advance(1);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? given.store : other).records.insert('leases', 'a', { n }, given.harness.now() + 1_000),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test('a purge removes what has expired, and nothing else', async () => {
      const old = Array.from({ length: 600 }, (_, n) => `old ${n}`);
      // In groups, because each write has a time limit of its own.
      for (let first = 0; first < old.length; first += 50) {
        const some = old.slice(first, first + 50);
        await Promise.all(some.map((key) => given.store.records.put('answers', key, {}, given.harness.now() + 1_000)));
      }
      await given.store.records.put('leases', 'old', {}, given.harness.now() + 1_000);
      await given.store.records.put('answers', 'young', { n: 1 }, given.harness.now() + 1_001);
      await given.store.records.put('positions', 'a', { n: 1 });
      expect(await given.store.records.purgeExpired()).toBe(0);
      await given.harness.advance(1_000);
      expect(await given.store.records.purgeExpired()).toBe(601);
      expect(await given.store.records.purgeExpired()).toBe(0);
      expect(await given.store.records.get('answers', 'young')).toEqual({ n: 1 });
      expect(await given.store.records.get('positions', 'a')).toEqual({ n: 1 });
    });

    test('put without an expiry stays', async () => {
      await given.store.records.put('positions', 'a', { n: 1 }, given.harness.now() + 1);
      await given.store.records.put('positions', 'a', { n: 2 });
      await given.harness.advance(10 * 365 * 86_400_000);
      expect(await given.store.records.get('positions', 'a')).toEqual({ n: 2 });
    });

    test('all that have not expired are read, each once, also while others come and go', async () => {
      const { records } = given.store;
      const keys = Array.from({ length: 520 }, (_, n) => `key ${String(n)}`);
      for (let first = 0; first < keys.length; first += 50) {
        await Promise.all(keys.slice(first, first + 50).map((key) => records.put('answers', key, { key })));
      }
      await records.put('answers', 'expired', {}, given.harness.now() + 1);
      await records.put('leases', 'a\0"b', { '2': 1, a: [null] }, given.harness.now() + 60_000);
      await given.harness.advance(1);
      const read: RecordEntry[] = [];
      for await (const entry of records.entries()) {
        if (read.length === 0) await records.delete('answers', 'key 519');
        read.push(entry);
      }
      const expected = keys.map((key) => ({ collection: 'answers', key, value: { key } }));
      const found = new Map(read.map((entry) => [entry.key, entry]));
      expect(found.size).toBe(read.length);
      expect(found.get('a\0"b')).toEqual({
        collection: 'leases',
        key: 'a\0"b',
        value: { '2': 1, a: [null] },
        expiresAt: given.harness.now() + 59_999,
      });
      expect(found.has('expired')).toBe(false);
      for (const entry of expected) if (entry.key !== 'key 519') expect(found.get(entry.key)).toEqual(entry);
    });

    test('keys are exact, whatever they hold', async () => {
      const keys = ['', 'a', 'a\0b', 'a\0c', 'A', '\ud800', '\ud801', '__proto__', '"', 'é', 'e\u0301', 'x'.repeat(1_000)];
      for (const [n, key] of keys.entries()) expect(await given.store.records.insert('answers', key, { n, key })).toBe(true);
      for (const [n, key] of keys.entries()) expect(await given.store.records.get('answers', key)).toEqual({ n, key });
    });
  });
};
