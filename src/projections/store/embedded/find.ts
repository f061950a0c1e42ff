import type { JsonObject } from '../../../events/envelope.js';
import { wantedValues } from '../documents.js';
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

/** A value as the index stores it: as JSON text, which holds every string exactly. */
export const entryValue = (value: string): string => JSON.stringify(value);

export type Page = Pick<ReadModelQuery, 'order' | 'after' | 'limit'>;

/** A field that must have one of `values`, which are written as the index stores them. */
export interface Condition {
  readonly field: string;
  readonly values: readonly string[];
}

export const conditionsOf = (model: ReadModel, query: ReadModelQuery): readonly Condition[] =>
  wantedValues(model, query).map(({ field, values }) => ({ field, values: values.map(entryValue) }));

/**
 * Where a descending list starts: SQLite sorts every blob after every text. An ascending list
 * starts at the empty text.
 */
const afterEveryText = new Uint8Array(1);

const startOf = ({ order, after }: Page): string | Uint8Array => after ?? (order === 'ascending' ? '' : afterEveryText);
const comparison = ({ order }: Page): string => (order === 'ascending' ? '>' : '<');
const direction = ({ order }: Page): string => (order === 'ascending' ? 'ASC' : 'DESC');

/** One page of a read model, by id. Run it in a snapshot, because it makes several queries. */
export const findPage = (
  database: Database,
  key: bigint,
  conditions: readonly Condition[],
  page: Page,
): readonly DocumentRow[] => {
  const { statement } = database;
  if (conditions.length === 0) {
    return statement(
      `SELECT id, revision, position, body FROM document
       WHERE model = ? AND id ${comparison(page)} ? AND body IS NOT NULL ORDER BY id ${direction(page)} LIMIT ?`,
    ).all(key, startOf(page), page.limit) as DocumentRow[];
  }
  return statement(
    `SELECT document.id, revision, position, body FROM json_each(?) AS wanted
     CROSS JOIN document ON model = ? AND document.id = wanted.value ORDER BY wanted.key`,
  ).all(JSON.stringify(findIds(database, key, conditions, page)), key) as DocumentRow[];
};

/**
 * Within one value the index is in id order, so the page is among the first `limit` ids of each
 * value of one condition.
 */
const findIds = (database: Database, key: bigint, conditions: readonly Condition[], page: Page): readonly string[] => {
  const [rarest, ...others] = rarestFirst(database, key, conditions);
  if (rarest === undefined) return [];
  const select = database.statement(
    `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND id ${comparison(page)} ?
     ${others
       .map(
         () => `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = entry.model AND other.field = ?
           AND other.value IN (SELECT value FROM json_each(?)) AND other.id = entry.id)`,
       )
       .join(' ')}
     ORDER BY id ${direction(page)} LIMIT ?`,
  );
  const parameters = others.flatMap(({ field, values }) => [field, JSON.stringify(values)]);
  const lists = rarest.values.map((value) =>
    (select.all(key, rarest.field, value, startOf(page), ...parameters, page.limit) as { id: string }[]).map(({ id }) => id),
  );
  const [only, second] = lists;
  if (only !== undefined && second === undefined) return only;
  const sign = page.order === 'ascending' ? 1 : -1;
  return [...new Set(lists.flat())].sort((one, other) => sign * compareIds(one, other)).slice(0, page.limit);
};

/** Matches are counted up to here, which is enough to know a rare value from a common one. */
const countedMatches = 500;

const rarestFirst = ({ statement }: Database, key: bigint, conditions: readonly Condition[]): readonly Condition[] => {
  if (conditions.length < 2) return conditions;
  const count = ({ field, values }: Condition): bigint => {
    const { matches } = statement(
      `SELECT count(*) AS matches FROM
       (SELECT 1 FROM entry WHERE model = ? AND field = ? AND value IN (SELECT value FROM json_each(?)) LIMIT ?)`,
    ).get(key, field, JSON.stringify(values), countedMatches) as { matches: bigint };
    return matches;
  };
  return conditions
    .map((condition) => ({ condition, matches: count(condition) }))
    .sort((one, other) => Number(one.matches - other.matches))
    .map(({ condition }) => condition);
};

/**
 * Compares UTF-8 bytes, as the stores do. JavaScript compares UTF-16 units, which gives another
 * order beyond U+FFFF.
 */
const compareIds = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
