import { nextTurn } from './eventLoop.js';
import { createTransientMap } from './transientMap.js';

/** Calls that ask the same question share one, as far as its answer is new enough for each. */
export interface SharedCalls {
  /**
   * The result of a call that began after this was called: of `call`, or of the one that somebody
   * else is about to make for the same key. It begins at once when none of the key is under way,
   * else in the next turn of the event loop, or, with `afterOther`, when the other one has ended.
   * In that case the fault of the other one is the fault of this one too.
   */
  run<Result>(key: string, call: () => Promise<Result>, options?: { readonly afterOther: boolean }): Promise<Result>;
  /**
   * As `run` with `afterOther`, but it always begins a turn of the event loop later, so that those who go
   * on with the answer of the other one share it too.
   */
  gather<Result>(key: string, call: () => Promise<Result>): Promise<Result>;
}

export const createSharedCalls = (): SharedCalls => {
  /** The last call of each key that has begun and not ended. */
  const underWay = createTransientMap<string, Promise<unknown>>();
  /** The call of each key that has not begun, and may still be joined. */
  const waiting = createTransientMap<string, Promise<unknown>>();

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

  const joinNext = <Result>(key: string, call: () => Promise<Result>, previous: () => Promise<unknown>): Promise<Result> => {
    let next = waiting.get(key);
    if (next === undefined) {
      next = beginAfter(previous(), key, call);
      waiting.set(key, next);
    }
    // Calls with the same key have the same type of result.
    return next as Promise<Result>;
  };

  return {
    run: (key, call, { afterOther } = { afterOther: false }) => {
      const other = underWay.get(key);
      if (other === undefined) return begin(key, call);
      return joinNext(key, call, () => (afterOther ? other : nextTurn()));
    },

    gather: (key, call) =>
      joinNext(key, call, async () => {
        await underWay.get(key);
        await nextTurn();
      }),
  };
};
