import type { JsonObject } from '../../events/envelope.js';
import { foldText } from '../../platform/foldText.js';
import type { ReadModel, ReadModelQuery } from './readModelStore.js';

/**
 * Whether `id` may be a document's. Some stores change a NUL or a lone surrogate, so that such an
 * id would match another one.
 */
export const isId = (id: string): boolean => /^[^\0\p{Surrogate}]+$/u.test(id);

/**
 * Whether one of the fields, or an element of a field that is a list, contains the text, without
 * regard to case and diacritics.
 */
export const matchesSearch = (body: JsonObject, { fields, text }: NonNullable<ReadModelQuery['search']>): boolean => {
  const wanted = foldText(text);
  return fields.some((field) => textsOf(body, field).some((value) => foldText(value).includes(wanted)));
};

/** The texts in a field: one, several for a list, none for any other value. */
export const textsOf = (body: JsonObject, field: string): readonly string[] => {
  const value = Object.hasOwn(body, field) ? body[field] : undefined;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((element: unknown): element is string => typeof element === 'string') : [];
};

/**
 * The conditions of `query.where`: each field with the values of which it must have one.
 *
 * @throws TypeError for a field without an index, because such a query would read every document
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
