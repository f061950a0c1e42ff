import { nextTurn } from './eventLoop.js';

/** Calls that ask the same question share one, as far as its answer is new enough for each. */
export interface SharedCalls {
  /**
   * The result of a call that began after this was called: of `call`, or of the one that somebody
   * else is about to make for the same key. It begins at once when none of the key is under way,
   * else in the next turn of the event loop, or, with `afterOther`, when the other one has ended.
   * In that case the fault of the other one is the fault of this one too.
   */
  run<Result>(key: string, call: () => Promise<Result>, options?: { readonly afterOther: boolean }): Promise<Result>;
}

export const createSharedCalls = (): SharedCalls => {
  /** The last call of each key that has begun and not ended. */
  const underWay = new Map<string, Promise<unknown>>();
  /** The call of each key that has not begun, and may still be joined. */
  const waiting = new Map<string, Promise<unknown>>();

  const begin = <Result>(key: string, call: () => Promise<Result>): Promise<Result> => {
    const current = call();
    underWay.set(key, current);
    const forget = (): void => {
      if (underWay.get(key) === current) underWay.delete(key);
    };
    current.then(forget, forget);
    return current;
  };

  const beginAfter = async <Result>(previous: Promise<unknown>, key: string, call: () => Promise<Result>): Promise<Result> => {
    try {
      await previous;
    } finally {
      waiting.delete(key);
    }
    return begin(key, call);
  };

  return {
    run: <Result>(key: string, call: () => Promise<Result>, { afterOther } = { afterOther: false }) => {
      const other = underWay.get(key);
      if (other === undefined) return begin(key, call);
      let next = waiting.get(key);
      if (next === undefined) {
        next = beginAfter(afterOther ? other : nextTurn(), key, call);
        waiting.set(key, next);
      }
      // Calls with the same key have the same type of result.
      return next as Promise<Result>;
    },
  };
};
