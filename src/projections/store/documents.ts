import type { JsonObject } from '../../events/envelope.js';
import { foldText, sortKeyOf } from '../../platform/foldText.js';
import type { ReadModel, ReadModelQuery, Selection, StoredDocument } from './readModelStore.js';

/**
 * Whether `id` may be a document's. Some stores change a NUL or a lone surrogate, so that such an
 * id would match another one.
 */
export const isId = (id: string): boolean => /^[^\0\p{Surrogate}]+$/u.test(id);

/** Conditions that documents are compared with. */
export type Rest = Pick<ReadModelQuery, 'search' | 'below' | 'beginning'>;

/** Whether the document fulfils the conditions. */
export const matchesRest = (body: JsonObject, { search, below, beginning }: Rest): boolean =>
  (search === undefined || matchesSearch(body, search)) &&
  (below === undefined || sortKeyIn(body, below.field) < sortKeyOf(below.text)) &&
  (beginning === undefined || textsOf(body, beginning.field).some((text) => text.startsWith(beginning.text)));

/**
 * Whether one of the fields, or an element of a field that is a list, contains the text, without
 * regard to case and diacritics.
 */
export const matchesSearch = (body: JsonObject, { fields, text }: NonNullable<ReadModelQuery['search']>): boolean => {
  const wanted = foldText(text);
  return fields.some((field) => textsOf(body, field).some((value) => foldText(value).includes(wanted)));
};

/** The first text that sorts after all that begin with `beginning`, wherever texts are compared. */
export const endOfBeginning = (beginning: string): string => {
  const characters = Array.from(beginning);
  const last = characters.pop()?.codePointAt(0) ?? 0;
  // What lies between is half of a surrogate pair.
  return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
};

/**
 * How many documents a search reads at a time: few at first, because what an index has narrowed
 * mostly matches.
 */
export function* searchSteps(limit: number, most: number): Generator<number, never> {
  for (let size = Math.max(limit, 20); ; size *= 4) yield Math.min(size, most);
}

/** The texts in a field: one, several for a list, none for any other value. */
export const textsOf = (body: JsonObject, field: string): readonly string[] => {
  const value = Object.hasOwn(body, field) ? body[field] : undefined;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((element: unknown): element is string => typeof element === 'string') : [];
};

/** By what a document stands where it does in a list that is sorted by the field. */
export const sortKeyIn = (body: JsonObject, field: string): string => sortKeyOf(textsOf(body, field)[0] ?? '');

/** Goes on after the document in a sorted list. */
export const placeInSort = (
  { field }: NonNullable<ReadModelQuery['sort']>,
  { body }: Pick<StoredDocument, 'body'>,
): NonNullable<ReadModelQuery['sort']> => ({ field, afterKey: sortKeyIn(body, field) });

/** The fields that documents can be sorted by. */
export const sortingFields = ({ indexes }: ReadModel): readonly string[] =>
  indexes.filter(({ sorts }) => sorts === true).map(({ field }) => field);

/** @throws TypeError for a field without a sorting index, because every document would be read */
export const checkSort = (model: ReadModel, { sort, below }: Pick<ReadModelQuery, 'sort' | 'below'>): void => {
  for (const asked of [sort, below]) {
    if (asked !== undefined && !sortingFields(model).includes(asked.field))
      throw new TypeError(`read model ${model.name} cannot be sorted by ${asked.field}`);
  }
};

/**
 * The conditions of `query.where` and `query.having`: each field with the values of which it must
 * have one.
 *
 * @throws TypeError for a field without an index, because such a query would read every document
 */
export const wantedValues = (
  model: ReadModel,
  { where = {}, having = {}, beginning }: Selection,
): readonly { readonly field: string; readonly values: readonly string[] }[] => {
  const checkIndex = (field: string): void => {
    if (!model.indexes.some((index) => index.field === field && index.sorts !== true))
      throw new TypeError(`read model ${model.name} has no index on ${field}`);
  };
  if (beginning !== undefined) checkIndex(beginning.field);
  return [
    ...Object.entries(where),
    ...Object.entries(having).flatMap(([field, values]) => values.map((value) => [field, value] as const)),
  ].map(([field, wanted]) => {
    checkIndex(field);
    return { field, values: [...new Set(typeof wanted === 'string' ? [wanted] : wanted)] };
  });
};
