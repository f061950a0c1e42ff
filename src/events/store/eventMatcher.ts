import type { EventFilter } from './eventStore.js';

/** A filter, prepared for many events. */
export interface EventMatcher {
  readonly matches: (event: { readonly stream: string; readonly type: string }) => boolean;
  /** Whether an event of the type in the category may match; its stream's name has a say too. */
  readonly mayMatch: (category: string, type: string) => boolean;
}

export const createEventMatcher = ({ streamPrefixes, types }: EventFilter = {}): EventMatcher => {
  const ofTypes = types === undefined ? null : new Set(types);
  const isOfType = (type: string): boolean => ofTypes?.has(type) ?? true;
  return {
    matches: ({ stream, type }) => isOfType(type) && (streamPrefixes?.some((prefix) => stream.startsWith(prefix)) ?? true),
    mayMatch: (category, type) =>
      isOfType(type) && (streamPrefixes?.some((prefix) => category.startsWith(prefix) || prefix.startsWith(category)) ?? true),
  };
};
