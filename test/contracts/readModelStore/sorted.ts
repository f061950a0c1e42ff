import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortKeyIn } from '../../../src/projections/store/documents.js';
import type { ReadModelQuery } from '../../../src/projections/store/readModelStore.js';
import { sites, write, type OpenedStore } from './support.js';

export const sortedContract = (given: OpenedStore): void => {
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
      given.store.apply(
        sites,
        Object.entries(titles).map(([id, text], index) =>
          write(id, index + 1, { title: text, status: index % 2 === 0 ? 'even' : 'odd', features: ['one', 'two'] }),
        ),
        6n,
      ),
    );

    test('without case and diacritics, equal ones by id, in either order', async () => {
      expect(await given.ids({ sort: title })).toEqual(sorted);
      expect(await given.ids({ sort: title, order: 'descending' })).toEqual([...sorted].reverse());
      expect(await given.ids({ sort: { field: 'status' } })).toEqual(['a', 'c', 'e', 'b', 'd', 'f']);
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
          expect(await given.ids({ ...query, order, sort: place(id), after: id, limit: 2 })).toEqual(
            wanted.slice(index + 1, index + 3),
          );
        }
      }
    });

    test('goes on where it was, although the document there changed, or is gone', async () => {
      await given.store.apply(sites, [write('c', 10, { title: 'Zzz' }), write('d', 10, null)], 10n);
      expect(await given.ids({ sort: place('c'), after: 'c' })).toEqual(['f', 'e', 'a', 'c']);
      expect(await given.ids({ sort: place('d'), after: 'd' })).toEqual(['f', 'e', 'a', 'c']);
    });

    test('those below a text, by id, and counted', async () => {
      const below = { field: 'title', text: 'bäcker' };
      expect(await given.ids({ below })).toEqual(['b', 'c', 'd']);
      expect(await given.ids({ below, order: 'descending', after: 'd', limit: 1 })).toEqual(['c']);
      expect(await given.ids({ below, where: { features: ['one', 'two'] } })).toEqual(['b', 'c', 'd']);
      expect(await given.ids({ below: { field: 'title', text: 'a' } })).toEqual([]);
      expect(await given.store.count(sites, { below })).toBe(3);
      expect(await given.store.count(sites, { below, where: { status: 'even' } })).toBe(1);
      await given.store.apply(sites, [write('c', 10, null), write('d', 10, { title: 'x' })], 10n);
      expect(await given.ids({ below })).toEqual(['b']);
      await expect(given.ids({ below: { field: 'owner', text: 'a' } })).rejects.toThrow(TypeError);
    });

    test('documents without the field come first', async () => {
      await given.store.apply(sites, [write('x', 10, { status: 'odd' }), write('b', 10, { title: 7 })], 10n);
      expect(await given.ids({ sort: title, limit: 3 })).toEqual(['b', 'x', 'c']);
    });

    test('a field without a sorting index is refused, and is no condition', async () => {
      await expect(given.ids({ sort: { field: 'owner' } })).rejects.toThrow(TypeError);
      await expect(given.ids({ where: { title: 'Zoo' } })).rejects.toThrow(TypeError);
    });

    test('as a model does, among more than are sorted at once, while documents change', async () => {
      const random = fc.sample(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.nat(2)), { numRuns: 1_200, seed: 7 });
      const bodies = new Map(
        random.map(([text, kind], index) => [`m${String(index)}`, { title: text, status: 'many', owner: `k${String(kind)}` }]),
      );
      await given.store.apply(
        sites,
        [...bodies].map(([id, body]) => write(id, 20, body)),
        20n,
      );
      const changed = new Map(
        [...bodies].filter((_, index) => index % 10 === 0).map(([id, body]) => [id, { ...body, title: 'm' }]),
      );
      await given.store.apply(
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
        expect(await given.ids({ where, sort: title, limit: 2_000 })).toEqual(model);
        expect(await given.ids({ where, sort: title, order: 'descending', limit: 2_000 })).toEqual([...model].reverse());
        const [middle = ''] = model.slice(300);
        const sort = { field: 'title', afterKey: sortKeyIn(bodies.get(middle) ?? {}, 'title') };
        expect(await given.ids({ where, sort, after: middle, limit: 50 })).toEqual(model.slice(301, 351));
        expect(await given.store.count(sites, { where })).toBe(model.length);
        // So many that the index of the field is walked, and so few that they are sorted.
        for (const isChosen of [(index: number) => index % 3 > 0, (index: number) => index % 100 === 0]) {
          const chosen = new Set([...bodies.keys()].filter((_, index) => isChosen(index)));
          const ofChosen = model.filter((id) => chosen.has(id));
          expect(await given.ids({ ids: [...chosen], where, sort: title, limit: 2_000 })).toEqual(ofChosen);
          const before = model.slice(0, 300).filter((id) => chosen.has(id));
          expect(await given.ids({ ids: [...chosen], where, sort, after: middle, order: 'descending', limit: 7 })).toEqual(
            before.toReversed().slice(0, 7),
          );
        }
      }
    });
  });
};
