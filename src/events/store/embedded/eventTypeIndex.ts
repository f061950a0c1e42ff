import { createEventMatcher } from '../eventMatcher.js';
import type { EventFilter } from '../eventStore.js';
import { prepareRows, type Database } from './database.js';

/**
 * The index of event types. An indexed type is an event type within a category, the part of a
 * stream's name up to its first `-`. There are few of them, so that a filter on types and stream
 * prefixes becomes a short list of integer keys. SQLite has them in the table `kinds`.
 */
export interface EventTypeIndex {
  /**
   * The key of `type` in the stream's category, which is added when it is new. Call it inside a
   * write transaction only.
   */
  keyFor(stream: string, type: string): number;
  typeOf(key: number): string;
  /** The indexed types that `filter` may match, as of the last commit. */
  matching(filter: EventFilter): MatchingTypes;
  /**
   * Drops the cache. Call it after a rollback, which undoes the types that the transaction added.
   */
  invalidate(): void;
}

export interface MatchingTypes {
  /** JSON array of keys. */
  readonly keys: string;
  /**
   * Whether stream names have to be compared too, because a prefix is longer than the category of a
   * type in `keys`.
   */
  readonly needsNameCheck: boolean;
}

interface IndexedType {
  readonly category: string;
  readonly type: string;
}

export const createEventTypeIndex = (database: Database): EventTypeIndex => {
  const selectAfter = prepareRows(database, 'SELECT key, category, type FROM kinds WHERE key > ? ORDER BY key');
  const insert = database.prepare('INSERT INTO kinds VALUES (?, ?, ?)');
  const byKey = new Map<number, IndexedType>();
  const keys = new Map<string, number>();
  let lastKey = 0;

  const add = (key: number, category: string, type: string): void => {
    byKey.set(key, { category, type });
    keys.set(lookupKey(category, type), key);
    lastKey = key;
  };

  /** Reads the types that another process has added. None is ever changed or removed. */
  const refresh = (): void => {
    for (const row of selectAfter.all(lastKey)) add(...(row as [number, string, string]));
  };

  return {
    keyFor: (stream, type) => {
      const category = categoryOf(stream);
      const lookup = lookupKey(category, type);
      const known = keys.get(lookup);
      if (known !== undefined) return known;
      refresh();
      const added = keys.get(lookup);
      if (added !== undefined) return added;
      const key = lastKey + 1;
      insert.run(key, category, type);
      add(key, category, type);
      return key;
    },

    typeOf: (key) => {
      if (!byKey.has(key)) refresh();
      const indexed = byKey.get(key);
      if (indexed === undefined)
        throw new Error(`an event names the type key ${String(key)}, which the table kinds does not hold`);
      return indexed.type;
    },

    matching: (filter) => {
      refresh();
      const { streamPrefixes } = filter;
      const { mayMatch } = createEventMatcher(filter);
      const matches = [...byKey].filter(([, { category, type }]) => mayMatch(category, type));
      const needsNameCheck = matches.some(
        ([, { category }]) => streamPrefixes !== undefined && !streamPrefixes.some((prefix) => category.startsWith(prefix)),
      );
      return { keys: JSON.stringify(matches.map(([key]) => key)), needsNameCheck };
    },

    invalidate: () => {
      byKey.clear();
      keys.clear();
      lastKey = 0;
    },
  };
};

/** `delivery-` for `delivery-1`; empty for a name without a dash. */
const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-') + 1);

/** Unique, because neither part may hold a control character. */
const lookupKey = (category: string, type: string): string => `${category}\n${type}`;
