import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/events/envelope.js';
import { START } from '../../../src/events/store/eventStore.js';
import { ReadModelStoreUnavailable, type DocumentWrite, type ReadModel } from '../../../src/projections/store/readModelStore.js';
import { everything, never, sites, write, type OpenedStore } from './support.js';

export const documentsContract = (given: OpenedStore): void => {
  describe('documents', () => {
    test('a document that was never written is absent', async () => {
      expect(await given.store.get(sites, 'a')).toBeNull();
      expect(await given.store.find(sites, everything)).toEqual([]);
      expect(await given.store.checkpoint(sites)).toBe(START);
    });

    test('what was written is read back with its revision and position, as bigint', async () => {
      await given.store.apply(sites, [{ id: 'a', revision: 3n, position: 7n, body: { title: 'A' } }], 7n);

      const document = { id: 'a', revision: 3n, position: 7n, body: { title: 'A' } };
      expect(await given.store.get(sites, 'a')).toEqual(document);
      expect(await given.store.find(sites, everything)).toEqual([document]);
    });

    test('positions beyond 2^53 are exact', async () => {
      const far = 2n ** 60n + 1n;
      await given.store.apply(sites, [{ id: 'a', revision: far - 1n, position: far, body: {} }], far + 2n);
      expect(await given.store.get(sites, 'a')).toEqual({ id: 'a', revision: far - 1n, position: far, body: {} });
      expect(await given.store.checkpoint(sites)).toBe(far + 2n);
    });

    test('many are read at once, without those that are absent or deleted', async () => {
      await given.store.apply(sites, [write('a', 1, { n: 1 }), write('b', 2, { n: 2 }), write('c', 3, null)], 3n);
      const documents = await given.store.getMany(sites, ['a', 'b', 'c', 'd']);
      expect([...documents.keys()].sort()).toEqual(['a', 'b']);
      expect(documents.get('b')?.body).toEqual({ n: 2 });
      expect((await given.store.getMany(sites, [])).size).toBe(0);
    });

    test('a redelivery changes nothing', async () => {
      await given.store.apply(sites, [write('a', 5, { title: 'first' })], 5n);
      await given.store.apply(sites, [write('a', 5, { title: 'second' })], 5n);
      expect((await given.store.get(sites, 'a'))?.body).toEqual({ title: 'first' });
    });

    test('an older state never comes back, also beside newer ones in the same batch', async () => {
      await given.store.apply(sites, [write('a', 5, { title: 'new' }), write('b', 1, { title: 'old' })], 5n);
      await given.store.apply(sites, [write('a', 4, { title: 'older' }), write('b', 6, { title: 'new' })], 6n);
      expect((await given.store.get(sites, 'a'))?.body).toEqual({ title: 'new' });
      expect((await given.store.get(sites, 'b'))?.body).toEqual({ title: 'new' });
    });

    test('of many documents in a batch each is guarded, and found by what it is now', async () => {
      const all = Array.from({ length: 130 }, (_, index) => `m${String(index).padStart(3, '0')}`);
      const every = (n: number): readonly string[] => all.filter((_, index) => index % n === 0);
      await given.store.apply(
        sites,
        every(2).map((id) => write(id, 10, { status: 'old', features: ['seo', 'seo'] })),
        10n,
      );
      await given.store.apply(
        sites,
        every(3).map((id) => write(id, 30, { status: 'newest' })),
        30n,
      );
      await given.store.apply(
        sites,
        all.map((id, index) => write(id, 20, index % 5 === 0 ? null : { status: 'new', features: ['content'] })),
        30n,
      );

      const isNewest = (id: string): boolean => every(3).includes(id);
      const isNew = (id: string): boolean => !isNewest(id) && !every(5).includes(id);
      expect(await given.ids({ where: { status: 'old' } })).toEqual([]);
      expect(await given.ids({ where: { features: 'seo' } })).toEqual([]);
      expect(await given.ids({ where: { status: 'newest' } })).toEqual(all.filter(isNewest));
      expect(await given.ids({ where: { status: 'new' } })).toEqual(all.filter(isNew));
      expect(await given.ids({ where: { features: 'content' } })).toEqual(all.filter(isNew));
      expect([...(await given.store.getMany(sites, all)).keys()].sort()).toEqual(all.filter((id) => isNewest(id) || isNew(id)));
    });

    test.each([false, true])('what is appended only is written once, counted once and found (in bulk: %s)', async (inBulk) => {
      const entries: ReadModel = { ...sites, name: 'entry', isAppendOnly: true };
      const other = await given.harness.open();
      await given.store.prepare(entries);
      const page = (from: number, to: number): readonly DocumentWrite[] =>
        Array.from({ length: to - from }, (_, index) =>
          write(`e${String(from + index).padStart(4, '0')}`, from + index, {
            status: `"${String((from + index) % 3)}"`,
            title: 'é\0',
          }),
        );
      await given.store.apply(entries, page(1, 700), 699n, { inBulk });
      await other.apply(entries, page(600, 800), 799n);
      await given.store.apply(entries, page(500, 750), 749n, { inBulk });
      const all = page(1, 800).map(({ id }) => id);
      expect(await given.ids({}, entries)).toEqual(all);
      expect(await given.ids({ where: { status: '"1"' } }, entries)).toEqual(all.filter((_, index) => index % 3 === 0));
      expect(await given.ids({ sort: { field: 'title' }, limit: 2 }, entries)).toEqual(all.slice(0, 2));
      expect(await given.store.count(entries, {})).toBe(799);
      expect(await given.store.count(entries, { where: { status: '"2"' } })).toBe(266);
      expect(await given.store.checkpoint(entries)).toBe(799n);
    });

    test('a deleted document is absent, and its tombstone guards', async () => {
      await given.store.apply(sites, [write('a', 1, { status: 'active' })], 1n);
      await given.store.apply(sites, [write('a', 5, null)], 5n);
      expect(await given.store.get(sites, 'a')).toBeNull();
      expect(await given.ids()).toEqual([]);
      expect(await given.ids({ where: { status: 'active' } })).toEqual([]);

      await given.store.apply(sites, [write('a', 4, { status: 'active' })], 5n);
      expect(await given.store.get(sites, 'a')).toBeNull();

      await given.store.apply(sites, [write('a', 6, { status: 'active' })], 6n);
      expect((await given.store.get(sites, 'a'))?.position).toBe(6n);
      expect(await given.ids({ where: { status: 'active' } })).toEqual(['a']);
    });

    test('a tombstone of a document that never was guards as well', async () => {
      await given.store.apply(sites, [write('a', 5, null)], 5n);
      await given.store.apply(sites, [write('a', 4, { title: 'late' })], 5n);
      expect(await given.store.get(sites, 'a')).toBeNull();
    });

    test('purging removes the tombstones before a position and nothing else', async () => {
      await given.store.apply(sites, [write('a', 1, null), write('b', 2, null), write('c', 1, { title: 'C' })], 2n);
      await given.store.purgeTombstones(sites, 2n);

      await given.store.apply(sites, [write('a', 1, { title: 'A' }), write('b', 1, { title: 'B' })], 2n);
      expect(await given.ids()).toEqual(['a', 'c']);
    });

    test.each(['', 'a\0b', 'a\ud800'])('%j is not an id: it is refused, and finds nothing', async (id) => {
      await given.store.apply(sites, [write('a', 1, {})], 1n);
      await expect(given.store.apply(sites, [write('b', 2, {}), write(id, 2, {})], 2n)).rejects.toThrow(TypeError);
      expect(await given.store.get(sites, id)).toBeNull();
      expect(await given.store.checkpoint(sites)).toBe(1n);
    });

    test('every text and every JSON value comes back exactly', async () => {
      let position = 0;
      const anyText = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
        fc.constantFrom('\0', '\ud800', '\udc00x', '__proto__', '9007199254740993', '$where', 'a.b', '"', '%', '_', '\\'),
      );
      // Through JSON once, because JSON.stringify writes -0 as 0.
      const anyJson = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
      await fc.assert(
        fc.asyncProperty(anyText, anyText, anyJson, async (status, text, value) => {
          position += 1;
          const own = JSON.parse('{"__proto__":{"x":1},"constructor":1}') as JsonObject;
          const body: JsonObject = { status, text, value, own, empty: {} };
          await given.store.apply(sites, [write('a', position, body)], BigInt(position));

          const stored = (await given.store.get(sites, 'a'))?.body;
          expect(stored).toEqual(body);
          expect(JSON.stringify(stored)).toBe(JSON.stringify(body));
          expect(await given.ids({ where: { status } })).toEqual(['a']);
          expect(await given.ids({ where: { status: `${status}x` } })).toEqual([]);
          expect(await given.ids({ search: { fields: ['text'], text } })).toEqual(['a']);
        }),
        { numRuns: 40 },
      );
    });
  });

  describe('unavailable', () => {
    test('a closed store refuses every call, and those that wait', async () => {
      await given.store.ping();
      const waiting = expect(given.store.reached(sites, 5n, never())).rejects.toThrow(ReadModelStoreUnavailable);
      await given.store.close();
      await waiting;
      await given.store.close();

      const calls: readonly (() => Promise<unknown>)[] = [
        () => given.store.prepare(sites),
        () => given.store.get(sites, 'a'),
        () => given.store.getMany(sites, ['a']),
        () => given.store.find(sites, everything),
        () => given.store.apply(sites, [write('a', 1, {})], 1n),
        () => given.store.advance([{ model: sites, position: 1n }]),
        () => given.store.checkpoint(sites),
        () => given.store.reached(sites, 1n, never()),
        () => given.store.liveVersion('site'),
        () => given.store.publish(sites),
        () => given.store.purgeTombstones(sites, 1n),
        () => given.store.records.get('answers', 'a'),
        () => given.store.records.insert('answers', 'a', {}),
        () => given.store.records.put('answers', 'a', {}),
        () => given.store.records.replace('answers', 'a', {}, {}),
        () => given.store.durableRecords.put('answers', 'a', {}),
        () => given.store.records.delete('answers', 'a'),
        () => given.store.records.purgeExpired(),
        () => given.store.ping(),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(ReadModelStoreUnavailable);
    });
  });
};
