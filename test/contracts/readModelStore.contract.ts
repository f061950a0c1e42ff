import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../src/events/envelope.js';
import { START } from '../../src/events/store/eventStore.js';
import { sortKeyIn } from '../../src/projections/store/documents.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type DocumentWrite,
  type ReadModel,
  type ReadModelQuery,
  type ReadModelStore,
  type RecordEntry,
  type Selection,
} from '../../src/projections/store/readModelStore.js';

export interface ReadModelStoreHarness {
  /**
   * Opens one more store on the same data, as another process would; `close` closes it if the test
   * did not.
   */
  open(): Promise<ReadModelStore>;
  /** Moves the time that records expire by. */
  advance(ms: number): Promise<void>;
  now(): number;
  close(): Promise<void>;
}

const sites: ReadModel = {
  name: 'site',
  version: '1',
  indexes: [
    { field: 'status' },
    { field: 'features' },
    { field: 'owner' },
    { field: 'title', sorts: true },
    { field: 'status', sorts: true },
  ],
  counted: ['status', 'features'],
};
const sitesNext: ReadModel = { ...sites, version: '2' };

const write = (id: string, position: number | bigint, body: JsonObject | null): DocumentWrite => ({
  id,
  position: BigInt(position),
  revision: BigInt(position) - 1n,
  body,
});

const everything: ReadModelQuery = { order: 'ascending', limit: 1_000 };
const never = (): AbortSignal => new AbortController().signal;

/** What every adapter of the read-model store port promises. */
export const readModelStoreContract = (name: string, createHarness: () => Promise<ReadModelStoreHarness>): void => {
  describe(`read-model store contract: ${name}`, () => {
    let harness: ReadModelStoreHarness;
    let store: ReadModelStore;

    beforeEach(async () => {
      harness = await createHarness();
      store = await harness.open();
      await store.prepare(sites);
    });

    afterEach(() => harness.close());

    const ids = async (query: Partial<ReadModelQuery> = {}, model = sites): Promise<readonly string[]> =>
      (await store.find(model, { ...everything, ...query })).map(({ id }) => id);

    describe('documents', () => {
      test('a document that was never written is absent', async () => {
        expect(await store.get(sites, 'a')).toBeNull();
        expect(await store.find(sites, everything)).toEqual([]);
        expect(await store.checkpoint(sites)).toBe(START);
      });

      test('what was written is read back with its revision and position, as bigint', async () => {
        await store.apply(sites, [{ id: 'a', revision: 3n, position: 7n, body: { title: 'A' } }], 7n);

        const document = { id: 'a', revision: 3n, position: 7n, body: { title: 'A' } };
        expect(await store.get(sites, 'a')).toEqual(document);
        expect(await store.find(sites, everything)).toEqual([document]);
      });

      test('positions beyond 2^53 are exact', async () => {
        const far = 2n ** 60n + 1n;
        await store.apply(sites, [{ id: 'a', revision: far - 1n, position: far, body: {} }], far + 2n);
        expect(await store.get(sites, 'a')).toEqual({ id: 'a', revision: far - 1n, position: far, body: {} });
        expect(await store.checkpoint(sites)).toBe(far + 2n);
      });

      test('many are read at once, without those that are absent or deleted', async () => {
        await store.apply(sites, [write('a', 1, { n: 1 }), write('b', 2, { n: 2 }), write('c', 3, null)], 3n);
        const documents = await store.getMany(sites, ['a', 'b', 'c', 'd']);
        expect([...documents.keys()].sort()).toEqual(['a', 'b']);
        expect(documents.get('b')?.body).toEqual({ n: 2 });
        expect((await store.getMany(sites, [])).size).toBe(0);
      });

      test('a redelivery changes nothing', async () => {
        await store.apply(sites, [write('a', 5, { title: 'first' })], 5n);
        await store.apply(sites, [write('a', 5, { title: 'second' })], 5n);
        expect((await store.get(sites, 'a'))?.body).toEqual({ title: 'first' });
      });

      test('an older state never comes back, also beside newer ones in the same batch', async () => {
        await store.apply(sites, [write('a', 5, { title: 'new' }), write('b', 1, { title: 'old' })], 5n);
        await store.apply(sites, [write('a', 4, { title: 'older' }), write('b', 6, { title: 'new' })], 6n);
        expect((await store.get(sites, 'a'))?.body).toEqual({ title: 'new' });
        expect((await store.get(sites, 'b'))?.body).toEqual({ title: 'new' });
      });

      test('of many documents in a batch each is guarded, and found by what it is now', async () => {
        const all = Array.from({ length: 130 }, (_, index) => `m${String(index).padStart(3, '0')}`);
        const every = (n: number): readonly string[] => all.filter((_, index) => index % n === 0);
        await store.apply(
          sites,
          every(2).map((id) => write(id, 10, { status: 'old', features: ['seo', 'seo'] })),
          10n,
        );
        await store.apply(
          sites,
          every(3).map((id) => write(id, 30, { status: 'newest' })),
          30n,
        );
        await store.apply(
          sites,
          all.map((id, index) => write(id, 20, index % 5 === 0 ? null : { status: 'new', features: ['content'] })),
          30n,
        );

        const isNewest = (id: string): boolean => every(3).includes(id);
        const isNew = (id: string): boolean => !isNewest(id) && !every(5).includes(id);
        expect(await ids({ where: { status: 'old' } })).toEqual([]);
        expect(await ids({ where: { features: 'seo' } })).toEqual([]);
        expect(await ids({ where: { status: 'newest' } })).toEqual(all.filter(isNewest));
        expect(await ids({ where: { status: 'new' } })).toEqual(all.filter(isNew));
        expect(await ids({ where: { features: 'content' } })).toEqual(all.filter(isNew));
        expect([...(await store.getMany(sites, all)).keys()].sort()).toEqual(all.filter((id) => isNewest(id) || isNew(id)));
      });

      test.each([false, true])('what is appended only is written once, counted once and found (in bulk: %s)', async (inBulk) => {
        const entries: ReadModel = { ...sites, name: 'entry', isAppendOnly: true };
        const other = await harness.open();
        await store.prepare(entries);
        const page = (from: number, to: number): readonly DocumentWrite[] =>
          Array.from({ length: to - from }, (_, index) =>
            write(`e${String(from + index).padStart(4, '0')}`, from + index, {
              status: `"${String((from + index) % 3)}"`,
              title: 'é\0',
            }),
          );
        await store.apply(entries, page(1, 700), 699n, { inBulk });
        await other.apply(entries, page(600, 800), 799n);
        await store.apply(entries, page(500, 750), 749n, { inBulk });
        const all = page(1, 800).map(({ id }) => id);
        expect(await ids({}, entries)).toEqual(all);
        expect(await ids({ where: { status: '"1"' } }, entries)).toEqual(all.filter((_, index) => index % 3 === 0));
        expect(await ids({ sort: { field: 'title' }, limit: 2 }, entries)).toEqual(all.slice(0, 2));
        expect(await store.count(entries, {})).toBe(799);
        expect(await store.count(entries, { where: { status: '"2"' } })).toBe(266);
        expect(await store.checkpoint(entries)).toBe(799n);
      });

      test('a deleted document is absent, and its tombstone guards', async () => {
        await store.apply(sites, [write('a', 1, { status: 'active' })], 1n);
        await store.apply(sites, [write('a', 5, null)], 5n);
        expect(await store.get(sites, 'a')).toBeNull();
        expect(await ids()).toEqual([]);
        expect(await ids({ where: { status: 'active' } })).toEqual([]);

        await store.apply(sites, [write('a', 4, { status: 'active' })], 5n);
        expect(await store.get(sites, 'a')).toBeNull();

        await store.apply(sites, [write('a', 6, { status: 'active' })], 6n);
        expect((await store.get(sites, 'a'))?.position).toBe(6n);
        expect(await ids({ where: { status: 'active' } })).toEqual(['a']);
      });

      test('a tombstone of a document that never was guards as well', async () => {
        await store.apply(sites, [write('a', 5, null)], 5n);
        await store.apply(sites, [write('a', 4, { title: 'late' })], 5n);
        expect(await store.get(sites, 'a')).toBeNull();
      });

      test('purging removes the tombstones before a position and nothing else', async () => {
        await store.apply(sites, [write('a', 1, null), write('b', 2, null), write('c', 1, { title: 'C' })], 2n);
        await store.purgeTombstones(sites, 2n);

        await store.apply(sites, [write('a', 1, { title: 'A' }), write('b', 1, { title: 'B' })], 2n);
        expect(await ids()).toEqual(['a', 'c']);
      });

      test.each(['', 'a\0b', 'a\ud800'])('%j is not an id: it is refused, and finds nothing', async (id) => {
        await store.apply(sites, [write('a', 1, {})], 1n);
        await expect(store.apply(sites, [write('b', 2, {}), write(id, 2, {})], 2n)).rejects.toThrow(TypeError);
        expect(await store.get(sites, id)).toBeNull();
        expect(await store.checkpoint(sites)).toBe(1n);
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
            await store.apply(sites, [write('a', position, body)], BigInt(position));

            const stored = (await store.get(sites, 'a'))?.body;
            expect(stored).toEqual(body);
            expect(JSON.stringify(stored)).toBe(JSON.stringify(body));
            expect(await ids({ where: { status } })).toEqual(['a']);
            expect(await ids({ where: { status: `${status}x` } })).toEqual([]);
            expect(await ids({ search: { fields: ['text'], text } })).toEqual(['a']);
          }),
          { numRuns: 40 },
        );
      });
    });

    describe('find', () => {
      const bodies: Readonly<Record<string, JsonObject>> = {
        a: { status: 'active', features: ['content', 'seo'], owner: 'kim', title: 'Bakery' },
        b: { status: 'provisioning', features: [], owner: 'kim', title: 'Bike shop' },
        c: { status: 'active', features: ['seo'], title: 'Café ÉTÉ' },
        d: { status: 'archived', features: ['content'], owner: 'lee', title: '100% wool', tags: ['Sale', 'x_y'] },
        e: { status: 'Active', features: 'seo', owner: null, title: 7 },
      };

      beforeEach(() =>
        store.apply(
          sites,
          Object.entries(bodies).map(([id, body], index) => write(id, index + 1, body)),
          5n,
        ),
      );

      test('by id, in either order', async () => {
        expect(await ids()).toEqual(['a', 'b', 'c', 'd', 'e']);
        expect(await ids({ order: 'descending' })).toEqual(['e', 'd', 'c', 'b', 'a']);
        expect(await ids({ order: 'descending', limit: 2 })).toEqual(['e', 'd']);
        expect(await ids({ after: 'b', limit: 2 })).toEqual(['c', 'd']);
        expect(await ids({ order: 'descending', after: 'c' })).toEqual(['b', 'a']);
        expect(await ids({ after: 'bb' })).toEqual(['c', 'd', 'e']);
      });

      test.each<[string, NonNullable<ReadModelQuery['where']>, readonly string[]]>([
        ['a string field', { status: 'active' }, ['a', 'c']],
        ['a string field, case-sensitive', { status: 'Active' }, ['e']],
        ['an array field by any element', { features: 'seo' }, ['a', 'c', 'e']],
        ['one of several values', { status: ['active', 'archived'] }, ['a', 'c', 'd']],
        ['several values that match the same document once', { features: ['seo', 'content', 'seo'] }, ['a', 'c', 'd', 'e']],
        ['two fields', { status: 'active', owner: 'kim' }, ['a']],
        ['two fields with several values', { features: ['content', 'seo'], owner: ['kim', 'lee'] }, ['a', 'd']],
        ['three fields', { status: ['active', 'archived'], features: ['content'], owner: ['lee', 'kim'] }, ['a', 'd']],
        ['an empty list', { status: [] }, []],
        ['an empty list beside a match', { status: 'active', features: [] }, []],
        ['a value that nothing has', { owner: 'nobody' }, []],
        ['no condition', {}, ['a', 'b', 'c', 'd', 'e']],
      ])('by %s', async (_, where, expected) => {
        expect(await ids({ where })).toEqual(expected);
        expect(await ids({ where, order: 'descending' })).toEqual([...expected].reverse());
        expect(await ids({ where, limit: 1 })).toEqual(expected.slice(0, 1));
        expect(await ids({ where, after: 'a' })).toEqual(expected.filter((id) => id > 'a'));
      });

      test('a field without an index is refused', async () => {
        await expect(ids({ where: { title: 'Bakery' } })).rejects.toThrow(TypeError);
      });

      test('by ids, without ids, and both beside conditions', async () => {
        expect(await ids({ ids: ['d', 'b', 'nobody', 'b', '\0'] })).toEqual(['b', 'd']);
        expect(await ids({ ids: ['d', 'b', 'a'], order: 'descending', after: 'd', limit: 1 })).toEqual(['b']);
        expect(await ids({ ids: ['d', 'b', 'a'], where: { owner: 'kim' } })).toEqual(['a', 'b']);
        expect(await ids({ ids: [] })).toEqual([]);
        expect(await ids({ without: ['b', 'nobody', 'e'] })).toEqual(['a', 'c', 'd']);
        expect(await ids({ ids: ['a', 'b', 'c'], without: ['b'], where: { features: 'seo' } })).toEqual(['a', 'c']);
        expect(await ids({ without: ['a'], where: { owner: ['kim', 'lee'] }, order: 'descending' })).toEqual(['d', 'b']);
        await store.apply(sites, [write('b', 10, null)], 10n);
        expect(await ids({ ids: ['d', 'b'] })).toEqual(['d']);
      });

      test('by several values that an array field must have', async () => {
        const both = { features: ['seo', 'content'] };
        await store.apply(sites, [write('f', 10, { status: 'active', features: ['content', 'seo'], owner: 'kim' })], 10n);
        await store.apply(sites, [write('g', 11, { status: 'new', features: ['seo', 'content', 'blueprint'] })], 11n);
        expect(await ids({ having: both })).toEqual(['a', 'f', 'g']);
        expect(await ids({ having: both, order: 'descending', limit: 1 })).toEqual(['g']);
        expect(await ids({ having: both, where: { status: 'active' } })).toEqual(['a', 'f']);
        expect(await ids({ having: both, where: { features: 'blueprint' } })).toEqual(['g']);
        expect(await ids({ having: both, ids: ['b', 'g'] })).toEqual(['g']);
        expect(await ids({ having: { features: ['seo', 'nothing'] } })).toEqual([]);
        expect(await ids({ having: { features: [] }, limit: 2 })).toEqual(['a', 'b']);
        expect(await store.count(sites, { having: both })).toBe(3);
        await expect(ids({ having: { title: ['x'] } })).rejects.toThrow(TypeError);
      });

      test('by how a value begins, beside conditions, a sort and a place', async () => {
        const beginning = (text: string, field = 'features') => ({ beginning: { field, text } });
        expect(await ids(beginning('s'))).toEqual(['a', 'c', 'e']);
        expect(await ids({ ...beginning('s'), order: 'descending', limit: 2 })).toEqual(['e', 'c']);
        expect(await ids({ ...beginning('s'), order: 'descending', after: 'c' })).toEqual(['a']);
        expect(await ids({ ...beginning('content'), where: { owner: ['kim', 'lee'] } })).toEqual(['a', 'd']);
        expect(await ids({ ...beginning('a', 'status'), sort: { field: 'title' }, order: 'descending' })).toEqual([
          'c',
          'a',
          'd',
        ]);
        expect(await ids({ ...beginning(''), ids: ['d', 'b'] })).toEqual(['d']);
        expect(await ids(beginning('seox'))).toEqual([]);
        expect(await store.count(sites, beginning('c'))).toBe(2);
        await expect(ids(beginning('x', 'title'))).rejects.toThrow(TypeError);

        const odd = ['"', '\\', '\u{1f600}z', '\ud7ffz', 'é', '%_', '\0'];
        await store.apply(
          sites,
          odd.map((text, index) => write(`odd${String(index)}`, 30 + index, { features: [`${text}${text}`, text] })),
          40n,
        );
        for (const [index, text] of odd.entries()) expect(await ids(beginning(text))).toEqual([`odd${String(index)}`]);
      });

      test('by how a value begins, of many that do and are elsewhere', async () => {
        const documents = Array.from({ length: 1_500 }, (_, index) => ({
          id: `m${String(index).padStart(4, '0')}`,
          features: [`x${String(index % 37)}`, `x${String((index * 7) % 11)}`, ...(index % 100 === 0 ? ['rare'] : [])],
        }));
        await store.apply(
          sites,
          documents.map(({ id, features }, index) => write(id, 20 + index, { features })),
          2_000n,
        );
        for (const text of ['x', 'x1', 'x36', 'r']) {
          const all = documents.filter(({ features }) => features.some((one) => one.startsWith(text))).map(({ id }) => id);
          const beginning = { field: 'features', text };
          expect(await ids({ beginning, limit: 2_000 })).toEqual(all);
          expect(await ids({ beginning, order: 'descending', limit: 2_000 })).toEqual(all.toReversed());
          expect(await ids({ beginning, after: 'm0700', limit: 90 })).toEqual(all.filter((id) => id > 'm0700').slice(0, 90));
          expect(await ids({ beginning, having: { features: ['rare'] } })).toEqual(all.filter((id) => id.endsWith('00')));
          expect(await store.findIds(sites, { beginning })).toEqual(all.toReversed());
          expect(await store.count(sites, { beginning })).toBe(all.length);
          const some = { beginning, ids: documents.map(({ id }) => id).filter((_, index) => index % 3 > 0) };
          const ofSome = all.filter((id) => some.ids.includes(id));
          expect(await ids({ ...some, limit: 2_000 })).toEqual(ofSome);
          const before = ofSome.filter((id) => id < 'm0700').toReversed();
          expect(await ids({ ...some, order: 'descending', after: 'm0700', limit: 9 })).toEqual(before.slice(0, 9));
          expect(await store.count(sites, some)).toBe(ofSome.length);
        }
      });

      test('ids alone, the last first', async () => {
        expect(await store.findIds(sites, {})).toEqual(['e', 'd', 'c', 'b', 'a']);
        expect(await store.findIds(sites, { where: { owner: 'kim' } })).toEqual(['b', 'a']);
        expect(await store.findIds(sites, { where: { owner: ['kim', 'lee'] }, range: { from: 'b' } })).toEqual(['d', 'b']);
        expect(await store.findIds(sites, { ids: ['nobody', 'c', 'a'] })).toEqual(['c', 'a']);
        const page = { after: 'd', limit: 2 };
        expect(await store.findIds(sites, page)).toEqual(['c', 'b']);
        expect(await store.findIds(sites, { where: { features: 'seo' }, ...page })).toEqual(
          (await store.findIds(sites, { where: { features: 'seo' }, range: { before: 'd' } })).slice(0, 2),
        );
        expect(await store.findIds(sites, { where: { owner: ['kim', 'lee'] }, limit: 1 })).toEqual(['d']);
        expect(await store.findIds(sites, { ids: ['e', 'c', 'a'], ...page })).toEqual(['c', 'a']);
        await expect(store.findIds(sites, { where: { title: 'x' } })).rejects.toThrow(TypeError);
        await expect(store.findIds(sitesNext, {})).rejects.toThrow(ReadModelDropped);
      });

      test('nothing is read for somebody who has gone', async () => {
        const gone = AbortSignal.abort(new Error('gone'));
        await expect(store.find(sites, everything, gone)).rejects.toThrow('gone');
        await expect(store.findIds(sites, {}, gone)).rejects.toThrow('gone');
        await expect(store.count(sites, {}, gone)).rejects.toThrow('gone');
      });

      test('a search that finds nothing ends when somebody goes', async () => {
        const writes = Array.from({ length: 3_000 }, (_, index) =>
          write(`m${String(index)}`, 20 + index, { title: 'straw', status: 'many' }),
        );
        await store.apply(sites, writes, 4_000n);
        const leaving = new AbortController();
        const search = { fields: ['title'], text: 'needle' };
        const searching = store.find(sites, { ...everything, where: { status: 'many' }, search }, leaving.signal);
        setImmediate(() => {
          leaving.abort(new Error('gone'));
        });
        await expect(searching).rejects.toThrow('gone');
      });

      test('by all of several values that many documents have, each elsewhere', async () => {
        const documents = Array.from({ length: 700 }, (_, index) => {
          const features = [
            'all',
            ...(index % 2 === 0 ? ['even'] : []),
            ...(index < 400 ? ['early'] : []),
            ...(index >= 350 ? ['late'] : []),
            ...(index % 70 === 0 ? ['rare'] : []),
          ];
          return { id: `m${String(index).padStart(3, '0')}`, features };
        });
        const writes = documents.map(({ id, features }, index) => write(id, 20 + index, { features }));
        await store.apply(sites, writes, 800n);
        const wanted = [
          ['all', 'even'],
          ['early', 'late'],
          ['late', 'all', 'even'],
          ['all', 'early', 'even', 'rare'],
          ['rare', 'odd'],
        ];
        for (const having of wanted) {
          const all = documents.filter(({ features }) => having.every((value) => features.includes(value))).map(({ id }) => id);
          const query = { having: { features: having } };
          expect(await ids(query)).toEqual(all);
          expect(await ids({ ...query, order: 'descending' })).toEqual(all.toReversed());
          expect(await ids({ ...query, after: 'm100', limit: 90 })).toEqual(all.filter((id) => id > 'm100').slice(0, 90));
          const before = all.filter((id) => id < 'm600').toReversed();
          expect(await ids({ ...query, order: 'descending', after: 'm600', limit: 90 })).toEqual(before.slice(0, 90));
          expect(await ids({ ...query, range: { from: 'm200', before: 'm500' } })).toEqual(
            all.filter((id) => id >= 'm200' && id < 'm500'),
          );
        }
      });

      test('by a range of ids, beside a place, conditions and a sort', async () => {
        expect(await ids({ range: { from: 'c' } })).toEqual(['c', 'd', 'e']);
        expect(await ids({ range: { before: 'c' }, order: 'descending' })).toEqual(['b', 'a']);
        expect(await ids({ range: { from: 'b', before: 'd' }, after: 'b' })).toEqual(['c']);
        expect(await ids({ range: { from: 'b' }, where: { owner: ['kim', 'lee'] }, order: 'descending', limit: 1 })).toEqual([
          'd',
        ]);
        expect(await ids({ range: { from: 'x' } })).toEqual([]);
        expect(await ids({ range: {} })).toEqual(['a', 'b', 'c', 'd', 'e']);
      });

      test.each<[string, Selection]>([
        ['everything', {}],
        ['a value', { where: { status: 'active' } }],
        ['several values of one document', { where: { features: ['seo', 'content'] } }],
        ['two fields', { where: { status: ['active', 'archived'], owner: 'kim' } }],
        ['two fields that are counted', { where: { status: ['active', 'archived'], features: 'seo' } }],
        ['a value that is not counted', { where: { owner: 'kim' } }],
        ['nothing', { where: { status: [] } }],
        ['ids', { ids: ['a', 'c', 'nobody'] }],
        ['ids beside a value', { ids: ['a', 'b'], where: { status: 'active' } }],
        ['all but ids', { without: ['a'] }],
        ['a value but ids', { where: { features: 'seo' }, without: ['a', 'b'] }],
        ['a range', { range: { from: 'b', before: 'd' } }],
        ['a value from an id on', { where: { features: 'seo' }, range: { from: 'b' } }],
        ['ids before one', { ids: ['a', 'b', 'c'], range: { before: 'b' } }],
      ])('counts what is found: %s', async (_, selection) => {
        await store.apply(sites, [write('gone', 10, null)], 10n);
        expect(await store.count(sites, selection)).toBe((await ids(selection)).length);
      });

      test('counts follow every change, of every version and of every process', async () => {
        const other = await harness.open();
        const counts = (of: ReadModelStore, model = sites) =>
          Promise.all(
            [{}, { status: 'active' }, { status: 'gone' }, { features: 'x' }, { status: 'active', features: ['x', 'y'] }].map(
              (where) => of.count(model, { where }),
            ),
          );
        const before = await counts(store);
        const [all = 0, active = 0] = before;
        await store.apply(sites, [write('n', 20, { status: 'active', features: ['y', 'x', 'x'] })], 20n);
        await other.apply(sites, [write('m', 21, { status: 'active', features: [] }), write('n', 19, { status: 'gone' })], 21n);
        expect(await counts(store)).toEqual([all + 2, active + 2, 0, 1, 1]);
        await store.apply(
          sites,
          [write('m', 22, { status: 'gone' }), write('n', 23, null), write('n', 24, { status: 'gone' })],
          24n,
        );
        expect(await counts(other)).toEqual([all + 2, active, 2, 0, 0]);
        await other.apply(sites, [write('m', 25, null), write('n', 26, null), write('n', 26, { status: 'gone' })], 26n);
        expect(await counts(store)).toEqual(before);

        await other.prepare(sitesNext);
        await other.apply(sitesNext, [write('n', 3, { status: 'gone' })], 3n);
        expect(await counts(store)).toEqual(before);
        expect(await counts(store, sitesNext)).toEqual([1, 0, 1, 0, 0]);
        await other.publish(sitesNext);
        await expect(store.count(sites, {})).rejects.toThrow(ReadModelDropped);
        await expect(other.count(sites, {})).rejects.toThrow(ReadModelDropped);
        expect(await counts(store, sitesNext)).toEqual([1, 0, 1, 0, 0]);
      });

      test('an index follows every change of a document', async () => {
        await store.apply(sites, [write('a', 10, { status: 'archived', features: ['seo', 'marketing'] })], 10n);
        expect(await ids({ where: { status: 'active' } })).toEqual(['c']);
        expect(await ids({ where: { status: 'archived' } })).toEqual(['a', 'd']);
        expect(await ids({ where: { features: 'content' } })).toEqual(['d']);
        expect(await ids({ where: { features: 'marketing' } })).toEqual(['a']);
        expect(await ids({ where: { owner: 'kim' } })).toEqual(['b']);
      });

      test.each<[string, string, readonly string[]]>([
        ['a part, whatever its case', 'BIKE', ['b']],
        ['letters beyond ASCII', 'café été', ['c']],
        ['letters without their diacritics', 'cafe ete', ['c']],
        ['letters with diacritics that are not there', 'bakéry', ['a']],
        ['characters that patterns use', '100%', ['d']],
        ['a dot that is a dot', 'b.k', []],
        ['an underscore that is one', 'X_y', ['d']],
        ['an element of a list', 'sale', ['d']],
        ['the empty text: every document that has such a field', '', ['a', 'b', 'c', 'd']],
      ])('search finds %s', async (_, text, expected) => {
        expect(await ids({ search: { fields: ['title', 'tags'], text } })).toEqual(expected);
      });

      test('search and conditions, order and page together', async () => {
        const search = { fields: ['title'], text: 'b' };
        expect(await ids({ search, where: { owner: 'kim' } })).toEqual(['a', 'b']);
        expect(await ids({ search, where: { owner: 'kim' }, order: 'descending', limit: 1 })).toEqual(['b']);
        expect(await ids({ search, where: { owner: 'kim' }, order: 'descending', after: 'b' })).toEqual(['a']);
      });

      test('search reads more documents than one page', async () => {
        const many = Array.from({ length: 1_300 }, (_, index) =>
          write(`m${String(index).padStart(4, '0')}`, 20, { status: 'many', title: index % 400 === 399 ? 'Needle' : 'hay' }),
        );
        await store.apply(sites, many, 20n);
        const search = { fields: ['title'], text: 'needle' };
        expect(await ids({ search })).toEqual(['m0399', 'm0799', 'm1199']);
        expect(await ids({ search, where: { status: 'many' }, order: 'descending', limit: 2 })).toEqual(['m1199', 'm0799']);
      });

      test('ids are ordered as UTF-8 bytes', async () => {
        const order = ['f', 'é', '\uffee', '😀'];
        await store.apply(
          sites,
          order.map((id) => write(id, 30, { status: ['one', 'two'] })),
          30n,
        );
        expect(await ids({ after: 'e' })).toEqual(order);
        expect(await ids({ where: { status: ['two', 'one'] } })).toEqual(order);
        expect(await ids({ where: { status: ['two', 'one'] }, order: 'descending', after: '😀' })).toEqual(
          order.slice(0, 3).reverse(),
        );
      });

      test.each([[undefined], [{ status: 'listed' }], [{ features: ['odd', 'even'] }]])(
        'pages where %j have no gap and no duplicate while documents come, change and go',
        async (where) => {
          const other = await harness.open();
          const idOf = (index: number): string => `p${String(index).padStart(3, '0')}`;
          const body = (index: number): JsonObject => ({
            status: 'listed',
            features: [index % 2 === 0 ? 'even' : 'odd'],
            n: index,
          });
          await store.apply(
            sites,
            ['a', 'b', 'c', 'd', 'e'].map((id) => write(id, 40, null)),
            40n,
          );
          const stable = Array.from({ length: 60 }, (_, index) => index * 3);
          await store.apply(
            sites,
            stable.map((index) => write(idOf(index), 41, body(index))),
            41n,
          );

          const seen: string[] = [];
          for (let page = 0; ; page += 1) {
            const after = seen.at(-1);
            const found = await ids({ limit: 7, ...(where !== undefined && { where }), ...(after !== undefined && { after }) });
            seen.push(...found);
            if (found.length < 7) break;
            const position = 50 + page;
            const changes = stable.map((index) =>
              index % 5 === page % 5
                ? write(idOf(index), position, body(index))
                : write(idOf(index + 1), position, page % 2 === 0 ? body(index + 1) : null),
            );
            await other.apply(sites, changes, BigInt(position));
          }

          expect(new Set(seen).size).toBe(seen.length);
          expect([...seen].sort()).toEqual(seen);
          expect(seen).toEqual(expect.arrayContaining(stable.map(idOf)));
        },
      );
    });

    describe('sorted', () => {
      const titles: Readonly<Record<string, string>> = {
        a: 'Zoo',
        b: 'Äpfel',
        c: 'apfel',
        d: 'apfel mus',
        e: 'Straße',
        f: 'Bäcker',
      };
      const place = (id: string): NonNullable<ReadModelQuery['sort']> => ({
        field: 'title',
        afterKey: sortKeyIn({ title: titles[id] ?? '' }, 'title'),
      });
      const title = { field: 'title' };
      const sorted = ['b', 'c', 'd', 'f', 'e', 'a'];

      beforeEach(() =>
        store.apply(
          sites,
          Object.entries(titles).map(([id, text], index) =>
            write(id, index + 1, { title: text, status: index % 2 === 0 ? 'even' : 'odd', features: ['one', 'two'] }),
          ),
          6n,
        ),
      );

      test('without case and diacritics, equal ones by id, in either order', async () => {
        expect(await ids({ sort: title })).toEqual(sorted);
        expect(await ids({ sort: title, order: 'descending' })).toEqual([...sorted].reverse());
        expect(await ids({ sort: { field: 'status' } })).toEqual(['a', 'c', 'e', 'b', 'd', 'f']);
      });

      test.each<[string, Partial<ReadModelQuery>, readonly string[]]>([
        ['everything', {}, sorted],
        ['a value', { where: { status: 'odd' } }, ['b', 'd', 'f']],
        ['several values', { where: { status: ['odd', 'even'], features: ['one', 'two'] } }, sorted],
        ['ids', { ids: ['a', 'c', 'f'] }, ['c', 'f', 'a']],
        ['all but ids', { without: ['c', 'f'] }, ['b', 'd', 'e', 'a']],
        ['a search', { search: { fields: ['title'], text: 'APFEL' } }, ['b', 'c', 'd']],
        ['those below a text', { below: { field: 'title', text: 'BÄCKER' } }, ['b', 'c', 'd']],
        [
          'those of a value below a text',
          { below: { field: 'title', text: 'Bäckerei' }, where: { status: 'odd' } },
          ['b', 'd', 'f'],
        ],
        ['those of ids below a text', { below: { field: 'title', text: 'zoo' }, ids: ['a', 'e'] }, ['e']],
        ['a search among ids', { ids: ['a', 'c', 'd'], search: { fields: ['title'], text: 'APFEL' } }, ['c', 'd']],
      ])('page by page: %s', async (_, query, expected) => {
        for (const order of ['ascending', 'descending'] as const) {
          const wanted = order === 'ascending' ? expected : [...expected].reverse();
          for (const [index, id] of wanted.entries()) {
            expect(await ids({ ...query, order, sort: place(id), after: id, limit: 2 })).toEqual(
              wanted.slice(index + 1, index + 3),
            );
          }
        }
      });

      test('goes on where it was, although the document there changed, or is gone', async () => {
        await store.apply(sites, [write('c', 10, { title: 'Zzz' }), write('d', 10, null)], 10n);
        expect(await ids({ sort: place('c'), after: 'c' })).toEqual(['f', 'e', 'a', 'c']);
        expect(await ids({ sort: place('d'), after: 'd' })).toEqual(['f', 'e', 'a', 'c']);
      });

      test('those below a text, by id, and counted', async () => {
        const below = { field: 'title', text: 'bäcker' };
        expect(await ids({ below })).toEqual(['b', 'c', 'd']);
        expect(await ids({ below, order: 'descending', after: 'd', limit: 1 })).toEqual(['c']);
        expect(await ids({ below, where: { features: ['one', 'two'] } })).toEqual(['b', 'c', 'd']);
        expect(await ids({ below: { field: 'title', text: 'a' } })).toEqual([]);
        expect(await store.count(sites, { below })).toBe(3);
        expect(await store.count(sites, { below, where: { status: 'even' } })).toBe(1);
        await store.apply(sites, [write('c', 10, null), write('d', 10, { title: 'x' })], 10n);
        expect(await ids({ below })).toEqual(['b']);
        await expect(ids({ below: { field: 'owner', text: 'a' } })).rejects.toThrow(TypeError);
      });

      test('documents without the field come first', async () => {
        await store.apply(sites, [write('x', 10, { status: 'odd' }), write('b', 10, { title: 7 })], 10n);
        expect(await ids({ sort: title, limit: 3 })).toEqual(['b', 'x', 'c']);
      });

      test('a field without a sorting index is refused, and is no condition', async () => {
        await expect(ids({ sort: { field: 'owner' } })).rejects.toThrow(TypeError);
        await expect(ids({ where: { title: 'Zoo' } })).rejects.toThrow(TypeError);
      });

      test('as a model does, among more than are sorted at once, while documents change', async () => {
        const random = fc.sample(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.nat(2)), { numRuns: 1_200, seed: 7 });
        const bodies = new Map(
          random.map(([text, kind], index) => [`m${String(index)}`, { title: text, status: 'many', owner: `k${String(kind)}` }]),
        );
        await store.apply(
          sites,
          [...bodies].map(([id, body]) => write(id, 20, body)),
          20n,
        );
        const changed = new Map(
          [...bodies].filter((_, index) => index % 10 === 0).map(([id, body]) => [id, { ...body, title: 'm' }]),
        );
        await store.apply(
          sites,
          [...changed].map(([id, body]) => write(id, 21, body)),
          21n,
        );
        for (const [id, body] of changed) bodies.set(id, body);
        const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
        for (const owner of [['k0', 'k1', 'k2'], ['k1']]) {
          const model = [...bodies]
            .filter(([, body]) => owner.includes(body.owner))
            .map(([id, body]) => ({ id, key: sortKeyIn(body, 'title') }))
            .sort((one, other) => compare(one.key, other.key) || compare(one.id, other.id))
            .map(({ id }) => id);
          const where = { status: 'many', owner };
          expect(await ids({ where, sort: title, limit: 2_000 })).toEqual(model);
          expect(await ids({ where, sort: title, order: 'descending', limit: 2_000 })).toEqual([...model].reverse());
          const [middle = ''] = model.slice(300);
          const sort = { field: 'title', afterKey: sortKeyIn(bodies.get(middle) ?? {}, 'title') };
          expect(await ids({ where, sort, after: middle, limit: 50 })).toEqual(model.slice(301, 351));
          expect(await store.count(sites, { where })).toBe(model.length);
          // So many that the index of the field is walked, and so few that they are sorted.
          for (const isChosen of [(index: number) => index % 3 > 0, (index: number) => index % 100 === 0]) {
            const chosen = new Set([...bodies.keys()].filter((_, index) => isChosen(index)));
            const ofChosen = model.filter((id) => chosen.has(id));
            expect(await ids({ ids: [...chosen], where, sort: title, limit: 2_000 })).toEqual(ofChosen);
            const before = model.slice(0, 300).filter((id) => chosen.has(id));
            expect(await ids({ ids: [...chosen], where, sort, after: middle, order: 'descending', limit: 7 })).toEqual(
              before.toReversed().slice(0, 7),
            );
          }
        }
      });
    });

    describe('checkpoint', () => {
      test('those of many models move together, forward only, and wake whoever waits for one', async () => {
        const others: ReadModel = { name: 'other', version: '1', indexes: [] };
        await store.prepare(others);
        await store.apply(sites, [], 9n);
        const reached = (await harness.open()).reached(others, 7n, never());
        await store.advance([
          { model: sites, position: 5n },
          { model: others, position: 7n },
          { model: sitesNext, position: 7n },
        ]);
        expect(await reached).toBe(true);
        expect([await store.checkpoint(sites), await store.checkpoint(others)]).toEqual([9n, 7n]);
        // It was left out, because it was never prepared.
        await expect(store.checkpoint(sitesNext)).rejects.toThrow(ReadModelDropped);
        await store.advance([]);
      });

      test('moves forward and never back, with and without documents', async () => {
        await store.apply(sites, [], 9n);
        expect(await store.checkpoint(sites)).toBe(9n);
        await store.apply(sites, [write('a', 4, {})], 4n);
        expect(await store.checkpoint(sites)).toBe(9n);
        expect((await store.get(sites, 'a'))?.position).toBe(4n);
      });

      test('belongs to its model and version', async () => {
        const others: ReadModel = { name: 'other', version: '1', indexes: [] };
        await store.prepare(others);
        await store.prepare(sitesNext);
        await store.apply(sites, [write('a', 3, {})], 3n);
        expect(await store.checkpoint(others)).toBe(START);
        expect(await store.checkpoint(sitesNext)).toBe(START);
        expect(await store.get(others, 'a')).toBeNull();
      });

      test('reached: at once when it is there already, also at START', async () => {
        await store.apply(sites, [], 5n);
        expect(await store.reached(sites, START, never())).toBe(true);
        expect(await store.reached(sites, 5n, never())).toBe(true);
      });

      test('reached: as soon as it gets there, not before', async () => {
        const steps: string[] = [];
        const waiting = store.reached(sites, 5n, never()).then((reached) => steps.push(`reached ${String(reached)}`));
        await store.apply(sites, [], 4n);
        await store.checkpoint(sites);
        steps.push('moved to 4');
        await store.apply(sites, [], 6n);
        await waiting;
        expect(steps).toEqual(['moved to 4', 'reached true']);
      });

      test('reached: wakes by another store on the same data', async () => {
        const other = await harness.open();
        const waiting = Promise.all([1n, 2n, 3n].map((position) => store.reached(sites, position, never())));
        for (const position of [1n, 2n, 3n]) await other.apply(sites, [], position);
        expect(await waiting).toEqual([true, true, true]);
      });

      test('reached: false when it is aborted first, or was before', async () => {
        const abort = new AbortController();
        const waiting = store.reached(sites, 5n, abort.signal);
        abort.abort();
        expect(await waiting).toBe(false);
        expect(await store.reached(sites, 5n, abort.signal)).toBe(false);
      });

      test('reached: a version that is dropped meanwhile is not waited for', async () => {
        const other = await harness.open();
        await other.prepare(sitesNext);
        const waiting = expect(store.reached(sites, 5n, never())).rejects.toThrow(ReadModelDropped);
        await other.publish(sitesNext);
        await waiting;
      });
    });

    describe('writes in bulk', () => {
      const inBulk = { inBulk: true };

      test('are as any other: guarded by position, with indexes, counts, tombstones and the checkpoint', async () => {
        await store.apply(sites, [write('a', 2, { status: 'old' }), write('b', 3, { status: 'kept' })], 3n);
        const long = 'zäöü – 😀'.repeat(500);
        await store.apply(
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
        expect(await ids({ where: { status: 'new' } })).toEqual(['a', 'c']);
        expect(await ids({ where: { status: ['old', 'older'] } })).toEqual([]);
        expect(await store.count(sites, { where: { status: 'new' } })).toBe(2);
        expect((await store.get(sites, 'a'))?.body).toEqual({ status: 'new', name: long, nested: { list: [1, null, 'two'] } });
        expect((await store.get(sites, 'b'))?.body).toEqual({ status: 'kept' });
        expect(await store.checkpoint(sites)).toBe(5n);
        await store.apply(sites, [write('d', 3, { status: 'new' })], 5n);
        expect(await store.get(sites, 'd')).toBeNull();
      });

      test('take turns with each other and with other writes, and wake whoever waits', async () => {
        const reached = (await harness.open()).reached(sites, 20n, never());
        const positions = Array.from({ length: 20 }, (_, index) => BigInt(index + 1));
        await Promise.all(
          positions.map((position) =>
            store.apply(sites, [write('same', position, { status: String(position) })], position, { inBulk: position % 3n > 0n }),
          ),
        );
        expect(await reached).toBe(true);
        expect(await ids({ where: { status: '20' } })).toEqual(['same']);
        expect(await store.count(sites, {})).toBe(1);
      });

      test('are refused like others, and go on after that', async () => {
        await expect(store.apply(sites, [write('\0', 1, {})], 1n, inBulk)).rejects.toThrow('not an id');
        await expect(store.apply(sitesNext, [write('a', 1, {})], 1n, inBulk)).rejects.toThrow(ReadModelDropped);
        await store.prepare(sitesNext);
        await store.apply(sitesNext, [write('a', 1, {})], 1n, inBulk);
        await store.publish(sitesNext);
        await expect(store.apply(sites, [write('a', 1, {})], 1n, inBulk)).rejects.toThrow(ReadModelDropped);
        expect(await ids({}, sitesNext)).toEqual(['a']);
      });

      test('are done when the store has closed', async () => {
        const writes = Array.from({ length: 500 }, (_, index) => write(`w${String(index)}`, index + 1, { status: 'new' }));
        const other = await harness.open();
        const writing = other.apply(sites, writes, 500n, inBulk);
        await Promise.all([writing, writing.then(() => other.close())]);
        expect(await store.count(sites, { where: { status: 'new' } })).toBe(500);
      });
    });

    describe('versions', () => {
      test('stand side by side', async () => {
        await store.prepare(sitesNext);
        await store.apply(sites, [write('a', 1, { status: 'old' })], 1n);
        await store.apply(sitesNext, [write('a', 1, { status: 'new' })], 1n);
        expect((await store.get(sites, 'a'))?.body).toEqual({ status: 'old' });
        expect((await store.get(sitesNext, 'a'))?.body).toEqual({ status: 'new' });
        expect(await ids({ where: { status: 'new' } })).toEqual([]);
        expect(await ids({ where: { status: 'new' } }, sitesNext)).toEqual(['a']);
      });

      test('none is live before the first is published', async () => {
        expect(await store.liveVersion('site')).toBeNull();
        await store.publish(sites);
        expect(await store.liveVersion('site')).toBe('1');
        expect(await store.liveVersion('other')).toBeNull();
      });

      test('publishing swaps at once for every process, and drops the others', async () => {
        const other = await harness.open();
        await store.publish(sites);
        await store.apply(sites, [write('a', 1, { status: 'old' }), write('b', 1, { status: 'old' })], 1n);
        expect((await other.get(sites, 'a'))?.body).toEqual({ status: 'old' });

        await store.prepare(sitesNext);
        await store.apply(sitesNext, [write('a', 1, { status: 'new' })], 1n);
        await store.publish(sitesNext);

        expect(await other.liveVersion('site')).toBe('2');
        expect((await other.get(sitesNext, 'a'))?.body).toEqual({ status: 'new' });
        for (const reader of [store, other]) {
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
          await store.prepare(model);
          await store.apply(model, [write('a', 1, { status: model.version })], 1n);
          if (model === sitesNext) await store.publish(model);
        }
        const other = await harness.open();
        await Promise.all([store.sweep(), store.sweep(), other.sweep()]);
        await store.sweep();
        expect(await ids({ where: { status: '2' } }, sitesNext)).toEqual(['a']);
        expect(await ids({ where: { status: '3' } }, building)).toEqual(['a']);
        await expect(store.get(sites, 'a')).rejects.toThrow(ReadModelDropped);
      });

      test('from the swap on nothing is answered from a version that is being dropped', async () => {
        const other = await harness.open();
        const many = Array.from({ length: 3_000 }, (_, index) =>
          write(`m${String(index).padStart(4, '0')}`, 1, { status: 'old' }),
        );
        await store.apply(sites, many, 1n);
        expect(await other.get(sites, 'm2999')).not.toBeNull();
        await store.prepare(sitesNext);

        let rounds = 0;
        const readDropped = async (): Promise<void> => {
          while ((await other.liveVersion('site')) !== '2') await turn();
          await expect(other.get(sites, 'm2999')).rejects.toThrow(ReadModelDropped);
          await expect(other.getMany(sites, ['m2998', 'm2999'])).rejects.toThrow(ReadModelDropped);
          await expect(other.find(sites, { ...everything, order: 'descending', limit: 3 })).rejects.toThrow(ReadModelDropped);
          rounds += 1;
        };
        const publishing = store.publish(sitesNext);
        while (rounds < 20) await Promise.all([readDropped(), turn()]);
        await publishing;
      });

      test('a dropped version can be neither written nor published', async () => {
        const other = await harness.open();
        await other.apply(sites, [write('a', 1, {})], 1n);
        await store.prepare(sitesNext);
        await store.publish(sitesNext);

        await expect(other.apply(sites, [write('a', 2, {})], 2n)).rejects.toThrow(ReadModelDropped);
        await expect(other.apply(sites, [], 2n)).rejects.toThrow(ReadModelDropped);
        await expect(other.publish(sites)).rejects.toThrow(ReadModelDropped);
        expect(await other.liveVersion('site')).toBe('2');
      });

      test('a dropped version that is prepared again is empty and takes every position again', async () => {
        await store.apply(sites, [write('a', 5, { status: 'old' }), write('b', 5, null)], 5n);
        await store.prepare(sitesNext);
        await store.publish(sitesNext);
        await store.prepare(sites);
        expect(await store.checkpoint(sites)).toBe(START);
        expect(await store.get(sites, 'a')).toBeNull();
        expect(await ids({ where: { status: 'old' } })).toEqual([]);
        await store.apply(sites, [write('a', 1, {}), write('b', 2, {})], 2n);
        expect(await ids()).toEqual(['a', 'b']);
        expect(await store.checkpoint(sites)).toBe(2n);
      });

      test('publishing drops a large version whole and leaves other models alone', async () => {
        const neighbour: ReadModel = { name: 'neighbour', version: '1', indexes: sites.indexes };
        await store.prepare(neighbour);
        const many = Array.from({ length: 1_200 }, (_, index) => write(`m${String(index)}`, 1, { status: 'many' }));
        await store.apply(sites, many, 1n);
        await store.apply(neighbour, many.slice(0, 3), 1n);
        await store.prepare(sitesNext);
        await store.publish(sitesNext);
        expect(await ids({}, sitesNext)).toEqual([]);
        expect(await ids({ where: { status: 'many' } }, neighbour)).toEqual(['m0', 'm1', 'm2']);
      });

      test('preparing and publishing again changes nothing', async () => {
        await store.publish(sites);
        await store.apply(sites, [write('a', 1, {})], 1n);
        await store.prepare(sites);
        await store.publish(sites);
        expect((await store.get(sites, 'a'))?.position).toBe(1n);
        expect(await store.checkpoint(sites)).toBe(1n);
      });

      test('what was never prepared cannot be used', async () => {
        await expect(store.get(sitesNext, 'a')).rejects.toThrow(ReadModelDropped);
        await expect(store.apply(sitesNext, [], 1n)).rejects.toThrow(ReadModelDropped);
      });
    });

    describe('records', () => {
      test('are put, read, replaced and deleted', async () => {
        expect(await store.records.get('leases', 'a')).toBeNull();
        await store.records.put('leases', 'a', { holder: 1 });
        await store.records.put('leases', 'a', { holder: 2 });
        expect(await store.records.get('leases', 'a')).toEqual({ holder: 2 });
        expect(await store.records.get('answers', 'a')).toBeNull();
        await store.records.delete('leases', 'a');
        await store.records.delete('leases', 'a');
        expect(await store.records.get('leases', 'a')).toBeNull();
      });

      test('insert writes only what is not there', async () => {
        expect(await store.records.insert('answers', 'a', { n: 1 })).toBe(true);
        expect(await store.records.insert('answers', 'a', { n: 2 })).toBe(false);
        expect(await store.records.get('answers', 'a')).toEqual({ n: 1 });
      });

      test('of many inserts at once, in several stores, exactly one writes', async () => {
        const others = await Promise.all([harness.open(), harness.open()]);
        const stores = [store, ...others];
        for (let round = 0; round < 5; round += 1) {
          const key = `key ${String(round)}`;
          const outcomes = await Promise.all(
            Array.from({ length: 30 }, async (_, n) =>
              (await stores[n % 3]?.records.insert('answers', key, { n })) === true ? n : null,
            ),
          );
          const winners = outcomes.filter((n) => n !== null);
          expect(winners).toHaveLength(1);
          expect(await store.records.get('answers', key)).toEqual({ n: winners[0] });
        }
      });

      test('replace writes only over what is expected', async () => {
        const { records } = store;
        const value = { n: 1, list: [{ b: null, '2': -0, 1: 1.5, a: 'é' }] };
        expect(await records.replace('answers', 'a', {}, { n: 0 })).toBe(false);
        expect(await records.get('answers', 'a')).toBeNull();
        await records.put('answers', 'a', value);
        expect(await records.replace('answers', 'b', value, { n: 2 })).toBe(false);
        expect(await records.replace('answers', 'a', { n: 1 }, { n: 2 })).toBe(false);
        const read = await records.get('answers', 'a');
        expect(read).toEqual({ ...value, list: [{ b: null, '2': 0, 1: 1.5, a: 'é' }] });
        expect(await records.replace('answers', 'a', read ?? {}, { n: 2 }, harness.now() + 1_000)).toBe(true);
        expect(await records.replace('answers', 'a', read ?? {}, { n: 3 })).toBe(false);
        expect(await records.get('answers', 'a')).toEqual({ n: 2 });
        expect(await records.replace('answers', 'a', { n: 2 }, { n: 2 }, harness.now() + 1_000)).toBe(true);
        await harness.advance(1_000);
        expect(await records.replace('answers', 'a', { n: 2 }, { n: 3 })).toBe(false);
        expect(await records.get('answers', 'a')).toBeNull();
      });

      test('of many replacements of one value, in several stores, exactly one writes', async () => {
        const stores = [store, await harness.open(), await harness.open()];
        for (let round = 0; round < 5; round += 1) {
          const key = `key ${String(round)}`;
          await store.records.put('answers', key, { n: -1 });
          const outcomes = await Promise.all(
            Array.from({ length: 30 }, async (_, n) =>
              (await stores[n % 3]?.records.replace('answers', key, { n: -1 }, { n })) === true ? n : null,
            ),
          );
          const winners = outcomes.filter((n) => n !== null);
          expect(winners).toHaveLength(1);
          expect(await store.records.get('answers', key)).toEqual({ n: winners[0] });
        }
      });

      test('are the same ones for what must not be lost', async () => {
        const { records, durableRecords } = store;
        expect(await durableRecords.insert('answers', 'a', { n: 1 })).toBe(true);
        expect(await records.insert('answers', 'a', { n: 2 })).toBe(false);
        expect(await durableRecords.replace('answers', 'a', { n: 1 }, { n: 2 })).toBe(true);
        expect(await records.get('answers', 'a')).toEqual({ n: 2 });
        await records.put('answers', 'a', { n: 3 }, harness.now() + 1);
        expect(await durableRecords.get('answers', 'a')).toEqual({ n: 3 });
        await durableRecords.put('answers', 'a', { n: 4 });
        await durableRecords.delete('answers', 'a');
        expect(await records.get('answers', 'a')).toBeNull();
      });

      test('an expired record is as good as absent', async () => {
        await store.records.put('answers', 'a', { n: 1 }, harness.now() + 1_000);
        await store.records.insert('answers', 'b', { n: 1 }, harness.now() + 1_000);
        await harness.advance(999);
        expect(await store.records.get('answers', 'a')).toEqual({ n: 1 });
        expect(await store.records.insert('answers', 'b', { n: 2 })).toBe(false);
        await harness.advance(1);
        expect(await store.records.get('answers', 'a')).toBeNull();
        expect(await store.records.insert('answers', 'b', { n: 2 }, harness.now() + 1_000)).toBe(true);
        expect(await store.records.insert('answers', 'b', { n: 3 })).toBe(false);
        expect(await store.records.get('answers', 'b')).toEqual({ n: 2 });
      });

      test('of many inserts over an expired record exactly one writes', async () => {
        const other = await harness.open();
        await store.records.put('leases', 'a', { n: -1 }, harness.now() + 1);
        await harness.advance(1);
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            (n % 2 === 0 ? store : other).records.insert('leases', 'a', { n }, harness.now() + 1_000),
          ),
        );
        expect(outcomes.filter(Boolean)).toHaveLength(1);
      });

      test('a purge removes what has expired, and nothing else', async () => {
        const old = Array.from({ length: 600 }, (_, n) => `old ${n}`);
        // In groups, because each write has a time limit of its own.
        for (let first = 0; first < old.length; first += 50) {
          const some = old.slice(first, first + 50);
          await Promise.all(some.map((key) => store.records.put('answers', key, {}, harness.now() + 1_000)));
        }
        await store.records.put('leases', 'old', {}, harness.now() + 1_000);
        await store.records.put('answers', 'young', { n: 1 }, harness.now() + 1_001);
        await store.records.put('positions', 'a', { n: 1 });
        expect(await store.records.purgeExpired()).toBe(0);
        await harness.advance(1_000);
        expect(await store.records.purgeExpired()).toBe(601);
        expect(await store.records.purgeExpired()).toBe(0);
        expect(await store.records.get('answers', 'young')).toEqual({ n: 1 });
        expect(await store.records.get('positions', 'a')).toEqual({ n: 1 });
      });

      test('put without an expiry stays', async () => {
        await store.records.put('positions', 'a', { n: 1 }, harness.now() + 1);
        await store.records.put('positions', 'a', { n: 2 });
        await harness.advance(10 * 365 * 86_400_000);
        expect(await store.records.get('positions', 'a')).toEqual({ n: 2 });
      });

      test('all that have not expired are read, each once, also while others come and go', async () => {
        const { records } = store;
        const keys = Array.from({ length: 520 }, (_, n) => `key ${String(n)}`);
        for (let first = 0; first < keys.length; first += 50) {
          await Promise.all(keys.slice(first, first + 50).map((key) => records.put('answers', key, { key })));
        }
        await records.put('answers', 'expired', {}, harness.now() + 1);
        await records.put('leases', 'a\0"b', { '2': 1, a: [null] }, harness.now() + 60_000);
        await harness.advance(1);
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
          expiresAt: harness.now() + 59_999,
        });
        expect(found.has('expired')).toBe(false);
        for (const entry of expected) if (entry.key !== 'key 519') expect(found.get(entry.key)).toEqual(entry);
      });

      test('keys are exact, whatever they hold', async () => {
        const keys = ['', 'a', 'a\0b', 'a\0c', 'A', '\ud800', '\ud801', '__proto__', '"', 'é', 'e\u0301', 'x'.repeat(1_000)];
        for (const [n, key] of keys.entries()) expect(await store.records.insert('answers', key, { n, key })).toBe(true);
        for (const [n, key] of keys.entries()) expect(await store.records.get('answers', key)).toEqual({ n, key });
      });
    });

    describe('several stores on the same data', () => {
      test('write at once without losing or mixing anything', async () => {
        const stores = [store, await harness.open(), await harness.open()];
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
        expect((await store.get(sites, 'shared'))?.body).toEqual({ status: '122' });
        expect(await ids({ where: { status: '122' } })).toEqual(['shared']);
        expect(await ids({ where: { owner: '1' } })).toHaveLength(40);
        expect(await ids()).toHaveLength(121);
        expect(await store.checkpoint(sites)).toBe(40n);
      });

      test('what one wrote is there for one that opens later', async () => {
        await store.publish(sites);
        await store.apply(sites, [write('a', 1, { status: 'active' })], 1n);
        await store.close();
        store = await harness.open();
        expect(await ids({ where: { status: 'active' } })).toEqual(['a']);
        expect(await store.checkpoint(sites)).toBe(1n);
        expect(await store.liveVersion('site')).toBe('1');
      });
    });

    describe('unavailable', () => {
      test('a closed store refuses every call, and those that wait', async () => {
        await store.ping();
        const waiting = expect(store.reached(sites, 5n, never())).rejects.toThrow(ReadModelStoreUnavailable);
        await store.close();
        await waiting;
        await store.close();

        const calls: readonly (() => Promise<unknown>)[] = [
          () => store.prepare(sites),
          () => store.get(sites, 'a'),
          () => store.getMany(sites, ['a']),
          () => store.find(sites, everything),
          () => store.apply(sites, [write('a', 1, {})], 1n),
          () => store.advance([{ model: sites, position: 1n }]),
          () => store.checkpoint(sites),
          () => store.reached(sites, 1n, never()),
          () => store.liveVersion('site'),
          () => store.publish(sites),
          () => store.purgeTombstones(sites, 1n),
          () => store.records.get('answers', 'a'),
          () => store.records.insert('answers', 'a', {}),
          () => store.records.put('answers', 'a', {}),
          () => store.records.replace('answers', 'a', {}, {}),
          () => store.durableRecords.put('answers', 'a', {}),
          () => store.records.delete('answers', 'a'),
          () => store.records.purgeExpired(),
          () => store.ping(),
        ];
        for (const call of calls) await expect(call()).rejects.toThrow(ReadModelStoreUnavailable);
      });
    });
  });
};
