import { Type, type TProperties } from 'typebox';
import { Refused, refusals } from '../commands/refusal.js';
import { partOf, type PageRequest, type SortKey } from '../projections/page.js';
import { Ids } from './schemas.js';

/** Query parameters of every list (api.md, section 3). */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many at most.' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'From the `Link` header of the page before.' }),
  ),
};

/** What a list takes beside `limit` and `cursor`. */
export interface Listing {
  /** The fields that `sort` may name. */
  readonly sort?: readonly string[];
  /** With `count=true` the answer has `total`, which is sent as `Total-Count`. */
  readonly count?: true;
  /** `ids` reads some by their ids. */
  readonly ids?: true;
}

/** How many `ids` may name. */
const maxIds = 200;
/** The longest ids are hostnames, which may have 253 characters (RFC 1035, 2.3.4). */
const maxIdLength = 253;

/** The query parameters of a list. */
export const listQuery = ({ sort, count, ids }: Listing): TProperties => ({
  ...pageQuery,
  ...(sort !== undefined && {
    sort: Type.Optional(
      Type.Enum(
        sort.flatMap((field) => [field, `-${field}`]),
        { description: 'The field to sort by; with `-` before it, the last first. Default: newest first.' },
      ),
    ),
  }),
  ...(count === true && {
    count: Type.Optional(Type.Boolean({ default: false, description: 'Whether to say in `Total-Count` how many there are.' })),
  }),
  ...(ids === true && {
    ids: Type.Optional(
      Ids({
        description: `Up to ${String(maxIds)} ids, with commas between: exactly these, in this order, without those that there are not.`,
      }),
    ),
  }),
});

/** What `listQuery` leaves in a request. */
export interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly sort?: string;
  readonly count?: boolean;
  readonly ids?: string;
}

/** What is said of a cursor that was made up. */
export const notACursor = (): Refused => refusedQuery('cursor', 'is not a cursor of this list');

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page, when there is one. */
  readonly next?: string | undefined;
}

/**
 * One page of a list that is read by id, or by a sorted field and id.
 * @param read the part of the list that is asked for
 * @param keyOf by what an item stands where it does when the list is sorted by `field`
 * @throws Refused when the cursor is not one of ours, or of the list in another order
 */
export const readPage = async <Item>(
  query: ListQuery,
  idOf: (item: Item) => string,
  read: (page: PageRequest) => Promise<readonly Item[]>,
  keyOf?: (item: Item, field: string, order: 'ascending' | 'descending') => SortKey | Promise<SortKey>,
): Promise<Page<Item>> => {
  const limit = query.limit ?? 50;
  const found = await read({ limit: limit + 1, ...placeOf(query) });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items };
  const { sort } = query;
  if (sort === undefined) return { items, next: toCursor(idOf(last)) };
  const { by, order } = sortedBy(sort);
  return { items, next: toCursor(JSON.stringify([sort, await keyOf?.(last, by, order), idOf(last)])) };
};

/** Of the items of one answer, where items may be large. */
const maxPageBytes = 4_000_000;
/** Items that are read at once, where they may be large. */
const partSize = 10;

/**
 * As `readPage`, by id, of items that may be large: a page also ends when its items have 4 MB, and has one at
 * least. They are read a few at a time, so that no more are in memory.
 * @throws Refused when the cursor is not one of ours
 */
export const readLargePage = async <Item>(
  query: Pick<ListQuery, 'limit' | 'cursor'>,
  idOf: (item: Item) => string,
  bytesOf: (item: Item) => number,
  read: (page: Pick<PageRequest, 'limit' | 'after'>) => Promise<readonly Item[]>,
): Promise<Page<Item>> => {
  const { limit = 50, cursor } = query;
  const items: Item[] = [];
  let bytes = 0;
  for (let after = cursor === undefined ? undefined : idIn(cursor); ;) {
    const wanted = Math.min(partSize, limit + 1 - items.length);
    const part = await read({ limit: wanted, ...(after !== undefined && { after }) });
    for (const item of part) {
      bytes += bytesOf(item);
      const isFull = items.length === limit || (items.length > 0 && bytes > maxPageBytes);
      if (isFull && after !== undefined) return { items, next: toCursor(after) };
      items.push(item);
      after = idOf(item);
    }
    if (part.length < wanted) return { items };
  }
};

const placeOf = ({ sort, cursor }: ListQuery): Omit<PageRequest, 'limit'> => {
  if (sort === undefined) return cursor === undefined ? {} : { after: idIn(cursor) };
  const sorted = sortedBy(sort);
  if (cursor === undefined) return { sort: sorted };
  const [afterKey, after] = sortedPlaceIn(cursor, sort);
  return { after, sort: { ...sorted, afterKey } };
};

const sortedBy = (sort: string): { readonly by: string; readonly order: 'ascending' | 'descending' } => ({
  by: sort.replace(/^-/, ''),
  order: sort.startsWith('-') ? 'descending' : 'ascending',
});

/** The cursor that names a place in a list. */
export const toCursor = (place: string): string => Buffer.from(place).toString('base64url');

/** The place that a cursor names. @throws Refused when the cursor is not one of ours */
export const placeIn = (cursor: string): string => {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (Buffer.from(text).toString('base64url') !== cursor) throw notACursor();
  return text;
};

const idIn = (cursor: string): string => {
  const id = placeIn(cursor);
  if (!/^[\w.-]+$/.test(id)) throw notACursor();
  return id;
};

const sortedPlaceIn = (cursor: string, sort: string): [SortKey, string] => {
  let place: unknown;
  try {
    place = JSON.parse(placeIn(cursor));
  } catch {
    throw notACursor();
  }
  const [own, key, id] = Array.isArray(place) ? (place as unknown[]) : [];
  const isKey = typeof key === 'string' || typeof key === 'number';
  if (own !== sort || !isKey || typeof id !== 'string' || !/^[\w.-]+$/.test(id)) throw notACursor();
  return [key, id];
};

/**
 * One page of a list that is at hand whole, newest first, or sorted. It goes on after an item that
 * is gone since, or stands elsewhere now.
 */
export const pageOf = <Item extends { readonly id: string }>(
  query: ListQuery,
  items: readonly Item[],
  keyOf?: (item: Item, field: string) => SortKey,
): Promise<Page<Item>> =>
  readPage(
    query,
    ({ id }) => id,
    (page) => Promise.resolve(partOf(items, page, keyOf)),
    keyOf,
  );

/**
 * What `ids` names, in its order, each once, without those that there are not; `null` without
 * `ids`.
 * @param bytesOf of an item, where items may be large: they are then read a few at a time
 * @throws Refused when more than 200 are named, when large ones have more than 4 MB together, or anything else
 *   of the list is asked for as well
 */
export const readNamed = async <Item>(
  query: ListQuery,
  read: (id: string) => Promise<Item | null>,
  bytesOf?: (item: Item) => number,
): Promise<readonly Item[] | null> => {
  const { ids, limit: _, count: __, ...others } = query;
  if (ids === undefined) return null;
  for (const [field, value] of Object.entries<unknown>({ ...others })) {
    if (value !== undefined && value !== false) throw refusedQuery(field, 'cannot be used together with ids');
  }
  const named = idsIn(ids);
  const size = bytesOf === undefined ? named.length : partSize;
  const found: Item[] = [];
  let bytes = 0;
  for (let start = 0; start < named.length; start += size) {
    for (const item of await Promise.all(named.slice(start, start + size).map(read))) {
      if (item === null) continue;
      bytes += bytesOf?.(item) ?? 0;
      if (found.length > 0 && bytes > maxPageBytes) throw refusedQuery('ids', 'name fewer at once: these have more than 4 MB');
      found.push(item);
    }
  }
  return found;
};

/** With `count=true`, what `read` says: how many there are on all pages. */
export const totalOf = async ({ count }: ListQuery, read: () => number | Promise<number>): Promise<number | undefined> =>
  count === true ? read() : undefined;

const refusedQuery = (field: string, issue: string): Refused => new Refused(refusals.invalidQuery(field, issue));

/** The ids that `ids` names, each once. @throws Refused when there are more than 200 */
export const idsIn = (ids: string): readonly string[] => {
  const named = [...new Set(ids.split(','))];
  if (named.length > maxIds) throw refusedQuery('ids', `name at most ${String(maxIds)} ids`);
  if (named.some((id) => id === '' || id.length > maxIdLength || /\p{Cc}/u.test(id))) {
    throw refusedQuery('ids', 'use ids with commas between');
  }
  return named;
};

/** The revision that an item of a list stands at. @throws Refused when it is none */
export const revisionIn = (place: string): bigint => {
  if (!/^\d{1,15}$/.test(place)) throw notACursor();
  return BigInt(place);
};

/** One page of a list whose items are known by their place in it alone: they are not removed, and new ones come last. */
export const readPageByPlace = async <Item>(
  query: { readonly limit?: number; readonly cursor?: string },
  read: (page: { skip: number; limit: number }) => Promise<readonly Item[]>,
): Promise<Page<Item>> => {
  const { items, next } = await readPage(
    query,
    ({ place }: { place: number }) => String(place),
    async ({ after = '0', limit }) => {
      if (!/^\d{1,6}$/.test(after)) throw notACursor();
      const skip = Number(after);
      return (await read({ skip, limit })).map((item, index) => ({ item, place: skip + index + 1 }));
    },
  );
  return { items: items.map(({ item }) => item), next };
};
