/** @typedef {import('../../src/platform/clock.js').Clock} Clock */

export const dayMs = 86_400_000;

/**
 * The demo's clock: it runs behind the system's, and is set forward from one moment of the story to
 * the next. Timers run in real time, so that what is due after days is done by a service that starts
 * then.
 * @param {number} startMs - since the Unix epoch
 * @returns {Clock & { moveTo(epochMs: number): void }}
 */
export const createStoryClock = (startMs) => {
  let behindMs = Date.now() - startMs;
  const now = () => Date.now() - behindMs;
  return {
    now,
    schedule: (delayMs, task, { keepAlive = false } = {}) => {
      const timer = setTimeout(task, delayMs);
      if (!keepAlive) timer.unref();
      return () => {
        clearTimeout(timer);
      };
    },
    moveTo: (epochMs) => {
      // What came before may have taken a while: time never goes back.
      behindMs = Math.min(behindMs, Date.now() - epochMs);
    },
  };
};
