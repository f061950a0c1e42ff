/**
 * A copy of `base` with further fields. Written as a spread that fields follow, V8 builds a hidden
 * class for each copy, which takes a microsecond and up to a kilobyte until the next major
 * collection; these copies share theirs (docs/performance.md). For objects whose fields are ours: one
 * named `__proto__` would not be copied.
 */
export const copyWith = <Base extends object, Fields extends object>(base: Base, fields: Fields): Base & Fields =>
  Object.assign({}, base, fields);
