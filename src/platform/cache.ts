import { LRUCache } from 'lru-cache';

/** The entries used last. */
export type Cache<Value extends object | string | number | boolean> = LRUCache<string, Value>;

/**
 * Keeps up to `max` entries. It grows with what is kept: by its own `max` the package takes the memory of all entries at
 * once, and the time for that is a part of every start.
 */
export const createCache = <Value extends object | string | number | boolean>(max: number): Cache<Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
