import { createEventMatcher, type EventMatcher } from './eventMatcher.js';
import type { EventFilter } from './eventStore.js';

export interface Subscriber {
  readonly matcher: EventMatcher;
  /** Ends its wait, with a fault when there is one. `null` while it does not wait. */
  wake: ((fault?: Error) => void) | null;
}

/** Those who wait for events, found by the events that they want. */
export interface Subscribers {
  join(filter: EventFilter | undefined): Subscriber;
  /** @returns whether nobody is left */
  leave(subscriber: Subscriber): boolean;
  /** Those that may want such an event. */
  candidatesFor(event: { readonly stream: string; readonly type: string }): readonly Subscriber[];
  isAnyWaiting(): boolean;
  wakeAll(fault?: Error): void;
}

/** More than ours, of which there are some 200. What others write to the same log may have any number. */
const MAX_CATEGORIES_AND_TYPES = 1_000;

export const createSubscribers = (): Subscribers => {
  const subscribers = new Set<Subscriber>();
  /** By category and type. */
  const candidates = new Map<string, readonly Subscriber[]>();

  return {
    join: (filter) => {
      const subscriber: Subscriber = { matcher: createEventMatcher(filter), wake: null };
      subscribers.add(subscriber);
      candidates.clear();
      return subscriber;
    },
    leave: (subscriber) => {
      subscribers.delete(subscriber);
      candidates.clear();
      return subscribers.size === 0;
    },
    candidatesFor: ({ stream, type }) => {
      const category = stream.slice(0, stream.indexOf('-') + 1);
      const key = `${category}\n${type}`;
      let found = candidates.get(key);
      if (found === undefined) {
        found = [...subscribers].filter(({ matcher }) => matcher.mayMatch(category, type));
        if (candidates.size === MAX_CATEGORIES_AND_TYPES) candidates.clear();
        candidates.set(key, found);
      }
      return found;
    },
    isAnyWaiting: () => {
      for (const { wake } of subscribers) if (wake !== null) return true;
      return false;
    },
    wakeAll: (fault) => {
      for (const { wake } of subscribers) wake?.(fault);
    },
  };
};
