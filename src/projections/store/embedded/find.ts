import type { JsonObject } from '../../../events/envelope.js';
import type { ReadModel, ReadModelQuery, StoredDocument } from '../readModelStore.js';
import type { Database } from './database.js';

export interface DocumentRow {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly body: string;
}

export const toDocument = ({ id, revision, position, body }: DocumentRow): StoredDocument => ({
  id,
  revision,
  position,
  body: JSON.parse(body) as JsonObject,
});

/** How an indexed value stands in the index: as JSON text, which holds every string exactly. */
export const entryValue = (value: string): string => JSON.stringify(value);

export type Page = Pick<ReadModelQuery, 'order' | 'after' | 'limit'>;

/** A field and the values, as they stand in the index, of which it must have one. */
export interface Condition {
  readonly field: string;
  readonly values: readonly string[];
}

/** @throws TypeError for a field without an index: such a query has no fast answer. */
export const conditionsOf = (model: ReadModel, query: ReadModelQuery): readonly Condition[] =>
  Object.entries(query.where ?? {}).map(([field, wanted]) => {
    if (!model.indexes.some((index) => index.field === field))
      throw new TypeError(`read model ${model.name} has no index on ${field}`);
    return { field, values: [...new Set(typeof wanted === 'string' ? [wanted] : wanted)].map(entryValue) };
  });

/** SQLite sorts every blob after every text: the start of a descending list. The empty text is the start of an ascending one. */
const afterEveryText = new Uint8Array(1);

const startOf = ({ order, after }: Page): string | Uint8Array => after ?? (order === 'ascending' ? '' : afterEveryText);
const comparison = ({ order }: Page): string => (order === 'ascending' ? '>' : '<');
const direction = ({ order }: Page): string => (order === 'ascending' ? 'ASC' : 'DESC');

/** One page of a read model, by id. Runs inside one call of the database, so that it sees one state. */
export const findPage = (
  { statement }: Database,
  key: bigint,
  conditions: readonly Condition[],
  page: Page,
): readonly DocumentRow[] => {
  const [driver, ...others] = conditions.toSorted((one, other) => one.values.length - other.values.length);
  if (driver === undefined) {
    return statement(
      `SELECT id, revision, position, body FROM document
       WHERE model = ? AND id ${comparison(page)} ? AND body IS NOT NULL ORDER BY id ${direction(page)} LIMIT ?`,
    ).all(key, startOf(page), page.limit) as DocumentRow[];
  }
  if (driver.values.length === 0) return [];

  // The index is in id order within a value: the page is among the first `limit` of each value.
  const select = statement(
    `SELECT document.id, revision, position, body FROM entry CROSS JOIN document ON document.model = entry.model AND document.id = entry.id
     WHERE entry.model = ? AND entry.field = ? AND entry.value = ? AND entry.id ${comparison(page)} ?
     ${others
       .map(
         () => `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = entry.model AND other.field = ?
           AND other.value IN (SELECT value FROM json_each(?)) AND other.id = entry.id)`,
       )
       .join(' ')}
     ORDER BY entry.id ${direction(page)} LIMIT ?`,
  );
  const parameters = others.flatMap(({ field, values }) => [field, JSON.stringify(values)]);
  const rowsOf = (value: string): DocumentRow[] =>
    select.all(key, driver.field, value, startOf(page), ...parameters, page.limit) as DocumentRow[];

  const [only, second] = driver.values;
  if (only !== undefined && second === undefined) return rowsOf(only);
  const merged = new Map(driver.values.flatMap((value) => rowsOf(value).map((row) => [row.id, row] as const)));
  const sign = page.order === 'ascending' ? 1 : -1;
  return [...merged.values()].sort((one, other) => sign * compareIds(one.id, other.id)).slice(0, page.limit);
};

/** By UTF-8 bytes, as the stores compare; JavaScript compares UTF-16 units, which differs beyond U+FFFF. */
const compareIds = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Whether one of the fields contains the text, ignoring case; a list of texts contains what any of them contains. */
export const matchesSearch = (body: JsonObject, { fields, text }: NonNullable<ReadModelQuery['search']>): boolean => {
  const wanted = text.toLowerCase();
  return fields.some((field) => textsOf(body, field).some((value) => value.toLowerCase().includes(wanted)));
};

/** The texts in a field: one, several, or none when it holds something else. */
export const textsOf = (body: JsonObject, field: string): readonly string[] => {
  const value = Object.hasOwn(body, field) ? body[field] : undefined;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((element: unknown): element is string => typeof element === 'string') : [];
};
