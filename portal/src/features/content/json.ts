/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Whether two documents say the same; the order of an object's fields says nothing. */
export const isSame = (one: unknown, other: unknown): boolean => {
  if (isList(one) && isList(other)) return one.length === other.length && one.every((part, index) => isSame(part, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name], other[name]));
};

/** Where a part stands in a document. */
export type Path = readonly (string | number)[];

/** A document with another value at a place; `undefined` leaves the field out. */
export const withAt = (document: unknown, [step, ...rest]: Path, value: unknown): unknown => {
  if (step === undefined) return value;
  if (isList(document)) return document.map((part, index) => (index === step ? withAt(part, rest, value) : part));
  const object = isObject(document) ? document : {};
  if (rest.length === 0 && value === undefined) {
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== String(step)));
  }
  return { ...object, [step]: withAt(object[step], rest, value) };
};
