import { describe, expect, test } from '@jest/globals';
import { Refused } from '../../src/commands/refusal.js';
import { idsIn, pageOf, readLargePage, type ListQuery } from '../../src/http/paging.js';

interface Invoice {
  readonly id: string;
  readonly total: number;
  readonly client: string;
}

const invoices: readonly Invoice[] = [
  { id: 'i5', total: 100, client: 'Ada' },
  { id: 'i4', total: 20, client: 'Bo' },
  { id: 'i3', total: 100, client: 'Cy' },
  { id: 'i2', total: 3, client: 'Ada' },
  { id: 'i1', total: 20, client: 'Bo' },
];

const keyOf = (invoice: Invoice, field: string): string | number => (field === 'total' ? invoice.total : invoice.client);

/** Ids of all pages; `change` gives what the list holds at each. */
const walk = async (query: ListQuery, change: (page: number) => readonly Invoice[] = () => invoices): Promise<string[]> => {
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
    const { items, next } = await pageOf({ ...query, ...(cursor !== undefined && { cursor }) }, change(page), keyOf);
    seen.push(...items.map(({ id }) => id));
    cursor = next;
  }
  return seen;
};

describe('a list that is at hand whole', () => {
  test.each([
    [undefined, ['i5', 'i4', 'i3', 'i2', 'i1']],
    ['total', ['i2', 'i1', 'i4', 'i3', 'i5']],
    ['-total', ['i5', 'i3', 'i4', 'i1', 'i2']],
    ['client', ['i2', 'i5', 'i1', 'i4', 'i3']],
    ['-client', ['i3', 'i4', 'i1', 'i5', 'i2']],
  ])('sorted by %s, in pages of any size, equal keys by id', async (sort, expected) => {
    for (const limit of [1, 2, 3, 5, 200]) expect(await walk({ limit, ...(sort !== undefined && { sort }) })).toEqual(expected);
  });

  test('goes on where it was, although the item there is gone or stands elsewhere', async () => {
    const changes = (page: number): readonly Invoice[] => {
      if (page === 1) return invoices.filter(({ id }) => id !== 'i2');
      return page === 2 ? invoices.map((invoice) => (invoice.id === 'i1' ? { ...invoice, total: 900 } : invoice)) : invoices;
    };
    expect(await walk({ limit: 1, sort: 'total' }, changes)).toEqual(['i2', 'i1', 'i4', 'i3', 'i5']);
  });

  test.each([
    ['of another order', { sort: 'client' }],
    ['of the same field the other way round', { sort: '-total' }],
    ['of the list unsorted', {}],
  ])('refuses a cursor %s', async (_, query) => {
    const { next = '' } = await pageOf({ limit: 1, sort: 'total' }, invoices, keyOf);
    await expect(pageOf({ limit: 1, ...query, cursor: next }, invoices, keyOf)).rejects.toThrow(Refused);
  });

  test.each(['aTE', '!', Buffer.from('["total",{},"i1"]').toString('base64url'), Buffer.from('null').toString('base64url')])(
    'refuses a cursor that was made up: %s',
    async (cursor) => {
      await expect(pageOf({ sort: 'total', cursor }, invoices, keyOf)).rejects.toThrow(/cursor: is not a cursor of this list/);
    },
  );
});

describe('a list of large items', () => {
  const megabytes = (...sizes: readonly number[]) =>
    sizes.map((size, index) => ({ id: `d${String(index + 10)}`, bytes: size * 1_000_000 }));

  const pagesOf = async (items: ReturnType<typeof megabytes>, limit: number) => {
    const pages: number[] = [];
    let read = 0;
    for (let cursor: string | undefined, isOver = false; !isOver;) {
      const page = await readLargePage(
        { limit, ...(cursor !== undefined && { cursor }) },
        ({ id }: { id: string; bytes: number }) => id,
        ({ bytes }: { bytes: number }) => bytes,
        ({ limit: wanted, after = '' }) => {
          const part = items.filter(({ id }) => id > after).slice(0, wanted);
          read = Math.max(read, part.length);
          return Promise.resolve(part);
        },
      );
      pages.push(page.items.length);
      cursor = page.next;
      isOver = cursor === undefined;
    }
    return { pages, read };
  };

  test.each([
    [[], 50, [0]],
    [[1, 1], 50, [2]],
    [[1, 1, 1], 2, [2, 1]],
    [[2, 2, 1], 50, [2, 1]],
    [[2, 2.1, 1], 50, [1, 2]],
    [[9, 9, 1], 50, [1, 1, 1]],
    [[9], 1, [1]],
    [Array<number>(25).fill(0.1), 50, [25]],
    [Array<number>(20).fill(0.1), 20, [20]],
    [Array<number>(60).fill(0.1), 50, [40, 20]],
  ])('of %j MB in pages of up to %d has pages of %j', async (sizes, limit, expected) => {
    expect((await pagesOf(megabytes(...sizes), limit)).pages).toEqual(expected);
  });

  test('reads a few at a time', async () => {
    expect((await pagesOf(megabytes(...Array<number>(60).fill(0.01)), 50)).read).toBe(10);
  });
});

describe('ids', () => {
  test('are each named once, at most 200', () => {
    expect(idsIn('b,a,b')).toEqual(['b', 'a']);
    const many = Array.from({ length: 200 }, (_, index) => `w${String(index)}`);
    expect(idsIn(many.join(','))).toEqual(many);
    expect(() => idsIn([...many, 'one'].join(','))).toThrow('ids: name at most 200 ids');
  });

  test.each(['', ',', 'a,', 'a,,b', 'a,\0', 'a'.repeat(254)])('%j is refused', (ids) => {
    expect(() => idsIn(ids)).toThrow('Invalid query — ids: use ids with commas between');
  });
});
