import { Type } from 'typebox';
import { Refused, refusals } from '../commands/refusal.js';

/** Query parameters of every list (api.md, section 3). */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many at most.' })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 400, description: 'From the `Link` header of the page before.' })),
};

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

const fromCursor = (cursor: string): string => {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!/^[\w.-]+$/.test(id) || Buffer.from(id).toString('base64url') !== cursor) {
    throw new Refused(refusals.invalidQuery('cursor', 'is not a cursor of this list'));
  }
  return id;
};
