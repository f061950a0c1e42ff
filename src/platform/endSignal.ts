/** What the end of some work is told by: the part of an `AbortSignal` that most need. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface EndController {
  readonly signal: EndSignal;
  /** The first reason counts. */
  readonly abort: (reason: unknown) => void;
}

/**
 * For work that begins and ends all the time, such as calls with a deadline: an `AbortController` and its
 * listeners take several times as long.
 */
export const createEndController = (): EndController => {
  let [aborted, reason] = [false, undefined as unknown];
  let listeners: readonly (() => void)[] = [];
  return {
    signal: {
      get aborted() {
        return aborted;
      },
      get reason() {
        return reason;
      },
      addEventListener: (_type, listener) => {
        if (!aborted) listeners = [...listeners, listener];
      },
      removeEventListener: (_type, listener) => {
        listeners = listeners.filter((each) => each !== listener);
      },
    },
    abort: (why) => {
      if (aborted) return;
      [aborted, reason] = [true, why];
      // One that is removed by another one is not called, as by an `AbortSignal`.
      for (let [first] = listeners; first !== undefined; [first] = listeners) {
        listeners = listeners.slice(1);
        first();
      }
    },
  };
};
