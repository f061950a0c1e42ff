import type { JsonObject } from '../../events/envelope.js';
import type { ReadModel, ReadModelQuery } from './readModelStore.js';

/** Neither a NUL nor a lone surrogate survives in the text of every store: such an id would be taken for another one. */
export const isId = (id: string): boolean => /^[^\0\p{Surrogate}]+$/u.test(id);

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

/**
 * The fields that a query asks for by value, each with the values of which it must have one.
 *
 * @throws TypeError for a field without an index: such a query has no fast answer
 */
export const wantedValues = (
  model: ReadModel,
  query: ReadModelQuery,
): readonly { readonly field: string; readonly values: readonly string[] }[] =>
  Object.entries(query.where ?? {}).map(([field, wanted]) => {
    if (!model.indexes.some((index) => index.field === field))
      throw new TypeError(`read model ${model.name} has no index on ${field}`);
    return { field, values: [...new Set(typeof wanted === 'string' ? [wanted] : wanted)] };
  });
