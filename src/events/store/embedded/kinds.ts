import type { EventFilter } from '../eventStore.js';
import { prepareRows, type Database } from './database.js';

/**
 * The kinds of events in the log: a kind is an event type within a category, the part of a stream's name up to its first
 * `-`. There are few of them, so that a filter on types and stream prefixes becomes a short list of integer keys.
 */
export interface Kinds {
  /** The key of a kind, which is made when it is new. Only inside a write transaction. */
  keyFor(stream: string, type: string): number;
  typeOf(key: number): string;
  /** The kinds that `filter` may match, as of the last commit. */
  matching(filter: EventFilter): MatchingKinds;
  /** To be called after a transaction was rolled back: a kind that it had made is not there. */
  forget(): void;
}

export interface MatchingKinds {
  /** JSON array of keys. */
  readonly keys: string;
  /** Whether a prefix is longer than the category of a kind in `keys`, so that names of streams are to be compared too. */
  readonly byName: boolean;
}

interface Kind {
  readonly category: string;
  readonly type: string;
}

export const createKinds = (database: Database): Kinds => {
  const selectAfter = prepareRows(database, 'SELECT key, category, type FROM kinds WHERE key > ? ORDER BY key');
  const insert = database.prepare('INSERT INTO kinds VALUES (?, ?, ?)');
  const byKey = new Map<number, Kind>();
  const keys = new Map<string, number>();
  let lastKey = 0;

  const add = (key: number, category: string, type: string): void => {
    byKey.set(key, { category, type });
    keys.set(nameOf(category, type), key);
    lastKey = key;
  };

  /** Kinds are only ever added, by this process or another. */
  const refresh = (): void => {
    for (const row of selectAfter.all(lastKey)) add(...(row as [number, string, string]));
  };

  return {
    keyFor: (stream, type) => {
      const category = categoryOf(stream);
      const name = nameOf(category, type);
      const known = keys.get(name);
      if (known !== undefined) return known;
      refresh();
      const added = keys.get(name);
      if (added !== undefined) return added;
      const key = lastKey + 1;
      insert.run(key, category, type);
      add(key, category, type);
      return key;
    },

    typeOf: (key) => {
      if (!byKey.has(key)) refresh();
      const kind = byKey.get(key);
      if (kind === undefined) throw new Error(`the event log names kind ${String(key)}, which does not exist`);
      return kind.type;
    },

    matching: ({ types, streamPrefixes }) => {
      refresh();
      const matches = [...byKey].filter(
        ([, { category, type }]) =>
          (types?.includes(type) ?? true) &&
          (streamPrefixes?.some((prefix) => category.startsWith(prefix) || prefix.startsWith(category)) ?? true),
      );
      const byName = matches.some(
        ([, { category }]) => streamPrefixes !== undefined && !streamPrefixes.some((prefix) => category.startsWith(prefix)),
      );
      return { keys: JSON.stringify(matches.map(([key]) => key)), byName };
    },

    forget: () => {
      byKey.clear();
      keys.clear();
      lastKey = 0;
    },
  };
};

/** `delivery-` for `delivery-1`; empty for a name without a dash. */
const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-') + 1);

/** Control characters stand in neither part. */
const nameOf = (category: string, type: string): string => `${category}\n${type}`;
