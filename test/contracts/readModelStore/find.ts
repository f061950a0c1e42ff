import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/events/envelope.js';
import {
  ReadModelDropped,
  type ReadModelQuery,
  type ReadModelStore,
  type Selection,
} from '../../../src/projections/store/readModelStore.js';
import { everything, sites, sitesNext, write, type OpenedStore } from './support.js';

export const findContract = (given: OpenedStore): void => {
  describe('find', () => {
    const bodies: Readonly<Record<string, JsonObject>> = {
      a: { status: 'active', features: ['content', 'seo'], owner: 'kim', title: 'Bakery' },
      b: { status: 'provisioning', features: [], owner: 'kim', title: 'Bike shop' },
      c: { status: 'active', features: ['seo'], title: 'Café ÉTÉ' },
      d: { status: 'archived', features: ['content'], owner: 'lee', title: '100% wool', tags: ['Sale', 'x_y'] },
      e: { status: 'Active', features: 'seo', owner: null, title: 7 },
    };

    beforeEach(() =>
      given.store.apply(
        sites,
        Object.entries(bodies).map(([id, body], index) => write(id, index + 1, body)),
        5n,
      ),
    );

    test('by id, in either order', async () => {
      expect(await given.ids()).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(await given.ids({ order: 'descending' })).toEqual(['e', 'd', 'c', 'b', 'a']);
      expect(await given.ids({ order: 'descending', limit: 2 })).toEqual(['e', 'd']);
      expect(await given.ids({ after: 'b', limit: 2 })).toEqual(['c', 'd']);
      expect(await given.ids({ order: 'descending', after: 'c' })).toEqual(['b', 'a']);
      expect(await given.ids({ after: 'bb' })).toEqual(['c', 'd', 'e']);
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
      expect(await given.ids({ where })).toEqual(expected);
      expect(await given.ids({ where, order: 'descending' })).toEqual([...expected].reverse());
      expect(await given.ids({ where, limit: 1 })).toEqual(expected.slice(0, 1));
      expect(await given.ids({ where, after: 'a' })).toEqual(expected.filter((id) => id > 'a'));
    });

    test('a field without an index is refused', async () => {
      await expect(given.ids({ where: { title: 'Bakery' } })).rejects.toThrow(TypeError);
    });

    test('by ids, without ids, and both beside conditions', async () => {
      expect(await given.ids({ ids: ['d', 'b', 'nobody', 'b', '\0'] })).toEqual(['b', 'd']);
      expect(await given.ids({ ids: ['d', 'b', 'a'], order: 'descending', after: 'd', limit: 1 })).toEqual(['b']);
      expect(await given.ids({ ids: ['d', 'b', 'a'], where: { owner: 'kim' } })).toEqual(['a', 'b']);
      expect(await given.ids({ ids: [] })).toEqual([]);
      expect(await given.ids({ without: ['b', 'nobody', 'e'] })).toEqual(['a', 'c', 'd']);
      expect(await given.ids({ ids: ['a', 'b', 'c'], without: ['b'], where: { features: 'seo' } })).toEqual(['a', 'c']);
      expect(await given.ids({ without: ['a'], where: { owner: ['kim', 'lee'] }, order: 'descending' })).toEqual(['d', 'b']);
      await given.store.apply(sites, [write('b', 10, null)], 10n);
      expect(await given.ids({ ids: ['d', 'b'] })).toEqual(['d']);
    });

    test('by several values that an array field must have', async () => {
      const both = { features: ['seo', 'content'] };
      await given.store.apply(sites, [write('f', 10, { status: 'active', features: ['content', 'seo'], owner: 'kim' })], 10n);
      await given.store.apply(sites, [write('g', 11, { status: 'new', features: ['seo', 'content', 'blueprint'] })], 11n);
      expect(await given.ids({ having: both })).toEqual(['a', 'f', 'g']);
      expect(await given.ids({ having: both, order: 'descending', limit: 1 })).toEqual(['g']);
      expect(await given.ids({ having: both, where: { status: 'active' } })).toEqual(['a', 'f']);
      expect(await given.ids({ having: both, where: { features: 'blueprint' } })).toEqual(['g']);
      expect(await given.ids({ having: both, ids: ['b', 'g'] })).toEqual(['g']);
      expect(await given.ids({ having: { features: ['seo', 'nothing'] } })).toEqual([]);
      expect(await given.ids({ having: { features: [] }, limit: 2 })).toEqual(['a', 'b']);
      expect(await given.store.count(sites, { having: both })).toBe(3);
      await expect(given.ids({ having: { title: ['x'] } })).rejects.toThrow(TypeError);
    });

    test('by how a value begins, beside conditions, a sort and a place', async () => {
      const beginning = (text: string, field = 'features') => ({ beginning: { field, text } });
      expect(await given.ids(beginning('s'))).toEqual(['a', 'c', 'e']);
      expect(await given.ids({ ...beginning('s'), order: 'descending', limit: 2 })).toEqual(['e', 'c']);
      expect(await given.ids({ ...beginning('s'), order: 'descending', after: 'c' })).toEqual(['a']);
      expect(await given.ids({ ...beginning('content'), where: { owner: ['kim', 'lee'] } })).toEqual(['a', 'd']);
      expect(await given.ids({ ...beginning('a', 'status'), sort: { field: 'title' }, order: 'descending' })).toEqual([
        'c',
        'a',
        'd',
      ]);
      expect(await given.ids({ ...beginning(''), ids: ['d', 'b'] })).toEqual(['d']);
      expect(await given.ids(beginning('seox'))).toEqual([]);
      expect(await given.store.count(sites, beginning('c'))).toBe(2);
      await expect(given.ids(beginning('x', 'title'))).rejects.toThrow(TypeError);

      const odd = ['"', '\\', '\u{1f600}z', '\ud7ffz', 'é', '%_', '\0'];
      await given.store.apply(
        sites,
        odd.map((text, index) => write(`odd${String(index)}`, 30 + index, { features: [`${text}${text}`, text] })),
        40n,
      );
      for (const [index, text] of odd.entries()) expect(await given.ids(beginning(text))).toEqual([`odd${String(index)}`]);
    });

    test('by how a value begins, of many that do and are elsewhere', async () => {
      const documents = Array.from({ length: 1_500 }, (_, index) => ({
        id: `m${String(index).padStart(4, '0')}`,
        features: [`x${String(index % 37)}`, `x${String((index * 7) % 11)}`, ...(index % 100 === 0 ? ['rare'] : [])],
      }));
      await given.store.apply(
        sites,
        documents.map(({ id, features }, index) => write(id, 20 + index, { features })),
        2_000n,
      );
      for (const text of ['x', 'x1', 'x36', 'r']) {
        const all = documents.filter(({ features }) => features.some((one) => one.startsWith(text))).map(({ id }) => id);
        const beginning = { field: 'features', text };
        expect(await given.ids({ beginning, limit: 2_000 })).toEqual(all);
        expect(await given.ids({ beginning, order: 'descending', limit: 2_000 })).toEqual(all.toReversed());
        expect(await given.ids({ beginning, after: 'm0700', limit: 90 })).toEqual(all.filter((id) => id > 'm0700').slice(0, 90));
        expect(await given.ids({ beginning, having: { features: ['rare'] } })).toEqual(all.filter((id) => id.endsWith('00')));
        expect(await given.store.findIds(sites, { beginning })).toEqual(all.toReversed());
        expect(await given.store.count(sites, { beginning })).toBe(all.length);
        const some = { beginning, ids: documents.map(({ id }) => id).filter((_, index) => index % 3 > 0) };
        const ofSome = all.filter((id) => some.ids.includes(id));
        expect(await given.ids({ ...some, limit: 2_000 })).toEqual(ofSome);
        const before = ofSome.filter((id) => id < 'm0700').toReversed();
        expect(await given.ids({ ...some, order: 'descending', after: 'm0700', limit: 9 })).toEqual(before.slice(0, 9));
        expect(await given.store.count(sites, some)).toBe(ofSome.length);
      }
    });

    test('ids alone, the last first', async () => {
      expect(await given.store.findIds(sites, {})).toEqual(['e', 'd', 'c', 'b', 'a']);
      expect(await given.store.findIds(sites, { where: { owner: 'kim' } })).toEqual(['b', 'a']);
      expect(await given.store.findIds(sites, { where: { owner: ['kim', 'lee'] }, range: { from: 'b' } })).toEqual(['d', 'b']);
      expect(await given.store.findIds(sites, { ids: ['nobody', 'c', 'a'] })).toEqual(['c', 'a']);
      const page = { after: 'd', limit: 2 };
      expect(await given.store.findIds(sites, page)).toEqual(['c', 'b']);
      expect(await given.store.findIds(sites, { where: { features: 'seo' }, ...page })).toEqual(
        (await given.store.findIds(sites, { where: { features: 'seo' }, range: { before: 'd' } })).slice(0, 2),
      );
      expect(await given.store.findIds(sites, { where: { owner: ['kim', 'lee'] }, limit: 1 })).toEqual(['d']);
      expect(await given.store.findIds(sites, { ids: ['e', 'c', 'a'], ...page })).toEqual(['c', 'a']);
      await expect(given.store.findIds(sites, { where: { title: 'x' } })).rejects.toThrow(TypeError);
      await expect(given.store.findIds(sitesNext, {})).rejects.toThrow(ReadModelDropped);
    });

    test('nothing is read for somebody who has gone', async () => {
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(given.store.find(sites, everything, gone)).rejects.toThrow('gone');
      await expect(given.store.findIds(sites, {}, gone)).rejects.toThrow('gone');
      await expect(given.store.count(sites, {}, gone)).rejects.toThrow('gone');
    });

    test('a search that finds nothing ends when somebody goes', async () => {
      const writes = Array.from({ length: 3_000 }, (_, index) =>
        write(`m${String(index)}`, 20 + index, { title: 'straw', status: 'many' }),
      );
      await given.store.apply(sites, writes, 4_000n);
      const leaving = new AbortController();
      const search = { fields: ['title'], text: 'needle' };
      const searching = given.store.find(sites, { ...everything, where: { status: 'many' }, search }, leaving.signal);
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
      await given.store.apply(sites, writes, 800n);
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
        expect(await given.ids(query)).toEqual(all);
        expect(await given.ids({ ...query, order: 'descending' })).toEqual(all.toReversed());
        expect(await given.ids({ ...query, after: 'm100', limit: 90 })).toEqual(all.filter((id) => id > 'm100').slice(0, 90));
        const before = all.filter((id) => id < 'm600').toReversed();
        expect(await given.ids({ ...query, order: 'descending', after: 'm600', limit: 90 })).toEqual(before.slice(0, 90));
        expect(await given.ids({ ...query, range: { from: 'm200', before: 'm500' } })).toEqual(
          all.filter((id) => id >= 'm200' && id < 'm500'),
        );
      }
    });

    test('by a range of ids, beside a place, conditions and a sort', async () => {
      expect(await given.ids({ range: { from: 'c' } })).toEqual(['c', 'd', 'e']);
      expect(await given.ids({ range: { before: 'c' }, order: 'descending' })).toEqual(['b', 'a']);
      expect(await given.ids({ range: { from: 'b', before: 'd' }, after: 'b' })).toEqual(['c']);
      expect(await given.ids({ range: { from: 'b' }, where: { owner: ['kim', 'lee'] }, order: 'descending', limit: 1 })).toEqual([
        'd',
      ]);
      expect(await given.ids({ range: { from: 'x' } })).toEqual([]);
      expect(await given.ids({ range: {} })).toEqual(['a', 'b', 'c', 'd', 'e']);
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
      await given.store.apply(sites, [write('gone', 10, null)], 10n);
      expect(await given.store.count(sites, selection)).toBe((await given.ids(selection)).length);
    });

    test('counts follow every change, of every version and of every process', async () => {
      const other = await given.harness.open();
      const counts = (of: ReadModelStore, model = sites) =>
        Promise.all(
          [{}, { status: 'active' }, { status: 'gone' }, { features: 'x' }, { status: 'active', features: ['x', 'y'] }].map(
            (where) => of.count(model, { where }),
          ),
        );
      const before = await counts(given.store);
      const [all = 0, active = 0] = before;
      await given.store.apply(sites, [write('n', 20, { status: 'active', features: ['y', 'x', 'x'] })], 20n);
      await other.apply(sites, [write('m', 21, { status: 'active', features: [] }), write('n', 19, { status: 'gone' })], 21n);
      expect(await counts(given.store)).toEqual([all + 2, active + 2, 0, 1, 1]);
      await given.store.apply(
        sites,
        [write('m', 22, { status: 'gone' }), write('n', 23, null), write('n', 24, { status: 'gone' })],
        24n,
      );
      expect(await counts(other)).toEqual([all + 2, active, 2, 0, 0]);
      await other.apply(sites, [write('m', 25, null), write('n', 26, null), write('n', 26, { status: 'gone' })], 26n);
      expect(await counts(given.store)).toEqual(before);

      await other.prepare(sitesNext);
      await other.apply(sitesNext, [write('n', 3, { status: 'gone' })], 3n);
      expect(await counts(given.store)).toEqual(before);
      expect(await counts(given.store, sitesNext)).toEqual([1, 0, 1, 0, 0]);
      await other.publish(sitesNext);
      await expect(given.store.count(sites, {})).rejects.toThrow(ReadModelDropped);
      await expect(other.count(sites, {})).rejects.toThrow(ReadModelDropped);
      expect(await counts(given.store, sitesNext)).toEqual([1, 0, 1, 0, 0]);
    });

    test('an index follows every change of a document', async () => {
      await given.store.apply(sites, [write('a', 10, { status: 'archived', features: ['seo', 'marketing'] })], 10n);
      expect(await given.ids({ where: { status: 'active' } })).toEqual(['c']);
      expect(await given.ids({ where: { status: 'archived' } })).toEqual(['a', 'd']);
      expect(await given.ids({ where: { features: 'content' } })).toEqual(['d']);
      expect(await given.ids({ where: { features: 'marketing' } })).toEqual(['a']);
      expect(await given.ids({ where: { owner: 'kim' } })).toEqual(['b']);
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
      expect(await given.ids({ search: { fields: ['title', 'tags'], text } })).toEqual(expected);
    });

    test('search and conditions, order and page together', async () => {
      const search = { fields: ['title'], text: 'b' };
      expect(await given.ids({ search, where: { owner: 'kim' } })).toEqual(['a', 'b']);
      expect(await given.ids({ search, where: { owner: 'kim' }, order: 'descending', limit: 1 })).toEqual(['b']);
      expect(await given.ids({ search, where: { owner: 'kim' }, order: 'descending', after: 'b' })).toEqual(['a']);
    });

    test('search reads more documents than one page', async () => {
      const many = Array.from({ length: 1_300 }, (_, index) =>
        write(`m${String(index).padStart(4, '0')}`, 20, { status: 'many', title: index % 400 === 399 ? 'Needle' : 'hay' }),
      );
      await given.store.apply(sites, many, 20n);
      const search = { fields: ['title'], text: 'needle' };
      expect(await given.ids({ search })).toEqual(['m0399', 'm0799', 'm1199']);
      expect(await given.ids({ search, where: { status: 'many' }, order: 'descending', limit: 2 })).toEqual(['m1199', 'm0799']);
    });

    test('ids are ordered as UTF-8 bytes', async () => {
      const order = ['f', 'é', '\uffee', '😀'];
      await given.store.apply(
        sites,
        order.map((id) => write(id, 30, { status: ['one', 'two'] })),
        30n,
      );
      expect(await given.ids({ after: 'e' })).toEqual(order);
      expect(await given.ids({ where: { status: ['two', 'one'] } })).toEqual(order);
      expect(await given.ids({ where: { status: ['two', 'one'] }, order: 'descending', after: '😀' })).toEqual(
        order.slice(0, 3).reverse(),
      );
    });

    test.each([[undefined], [{ status: 'listed' }], [{ features: ['odd', 'even'] }]])(
      'pages where %j have no gap and no duplicate while documents come, change and go',
      async (where) => {
        const other = await given.harness.open();
        const idOf = (index: number): string => `p${String(index).padStart(3, '0')}`;
        const body = (index: number): JsonObject => ({
          status: 'listed',
          features: [index % 2 === 0 ? 'even' : 'odd'],
          n: index,
        });
        await given.store.apply(
          sites,
          ['a', 'b', 'c', 'd', 'e'].map((id) => write(id, 40, null)),
          40n,
        );
        const stable = Array.from({ length: 60 }, (_, index) => index * 3);
        await given.store.apply(
          sites,
          stable.map((index) => write(idOf(index), 41, body(index))),
          41n,
        );

        const seen: string[] = [];
        for (let page = 0; ; page += 1) {
          const after = seen.at(-1);
          const found = await given.ids({
            limit: 7,
            ...(where !== undefined && { where }),
            ...(after !== undefined && { after }),
          });
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
};
