/**
 * Of edits, those that are not as these values. Once they are saved, that is what was typed while the
 * request was on its way.
 */
export const differing = <Edits extends object>(edits: Edits, values: Partial<Edits>): Partial<Edits> => {
  const rest: Partial<Edits> = { ...edits };
  for (const key in edits) if (rest[key] === values[key]) Reflect.deleteProperty(rest, key);
  return rest;
};
