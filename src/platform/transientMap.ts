/** The part of a `Map` that keeps what is under way. */
export interface TransientMap<Key, Value> {
  readonly size: number;
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
  delete(key: Key): unknown;
  values(): Iterable<Value>;
}

const MAX_REMOVALS = 64;

/**
 * A map for entries that come and go all the time, such as the calls under way. A `Map` makes a new
 * table after some removals, and V8 links the old one, with all that it still held, to the new one.
 * Once one of them is in the old generation, whatever the later ones held outlives its request until
 * the next major collection. This one begins a new `Map` before that, and leaves the old one empty.
 */
export const createTransientMap = <Key, Value>(): TransientMap<Key, Value> => {
  let entries = new Map<Key, Value>();
  let removals = 0;

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key),
    set: (key, value) => entries.set(key, value),
    delete: (key) => {
      if (!entries.delete(key)) return;
      removals += 1;
      if (removals < MAX_REMOVALS) return;
      removals = 0;
      const kept = [...entries];
      for (const [each] of kept) entries.delete(each);
      entries = new Map(kept);
    },
    values: () => entries.values(),
  };
};
