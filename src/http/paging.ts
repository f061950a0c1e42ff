import { Type } from 'typebox';
import { Refused, refusals } from '../commands/refusal.js';

/** Query parameters of every list (api.md, section 3). */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many at most.' })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 400, description: 'From the `Link` header of the page before.' })),
};

/** What is said of a cursor that was made up. */
export const notACursor = (): Refused => new Refused(refusals.invalidQuery('cursor', 'is not a cursor of this list'));

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page, when there is one. */
  readonly next?: string;
}

/**
 * One page of a list that is read by id.
 * @param read items after an id (exclusive), at most `limit`
 * @throws Refused when the cursor is not one of ours
 */
export const readPage = async <Item>(
  query: { readonly limit?: number; readonly cursor?: string },
  idOf: (item: Item) => string,
  read: (page: { limit: number; after?: string }) => Promise<readonly Item[]>,
): Promise<Page<Item>> => {
  const limit = query.limit ?? 50;
  const found = await read({ limit: limit + 1, ...(query.cursor !== undefined && { after: fromCursor(query.cursor) }) });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: Buffer.from(idOf(last)).toString('base64url') } : { items };
};

/**
 * One page of a list that is at hand whole, newest first. It goes on after an item that is gone
 * since: ids are sorted by time.
 */
export const pageOf = <Item extends { readonly id: string }>(
  query: { readonly limit?: number; readonly cursor?: string },
  items: readonly Item[],
): Promise<Page<Item>> =>
  readPage(
    query,
    ({ id }) => id,
    ({ after, limit }) => Promise.resolve(items.filter(({ id }) => after === undefined || id < after).slice(0, limit)),
  );

/** One page of a list whose items are known by their place in it alone. */
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
  return { items: items.map(({ item }) => item), ...(next !== undefined && { next }) };
};

const fromCursor = (cursor: string): string => {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!/^[\w.-]+$/.test(id) || Buffer.from(id).toString('base64url') !== cursor) {
    throw notACursor();
  }
  return id;
};
