import { sleep, type Clock } from './clock.js';
import type { EndSignal } from './endSignal.js';
import type { Random } from './random.js';

/** How pauses between attempts grow: each is twice as long as the one before, up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The pause before the next attempt, in milliseconds, with jitter, so that all who met the same fault do not return
 * at once.
 * @param failures so many attempts had failed before the one that failed now
 * @param jitter a fraction in [0, 1): 0 halves the pause
 */
export const backoffMs = ({ firstMs, maxMs }: Backoff, failures: number, jitter: number): number =>
  Math.min(maxMs, firstMs * 2 ** failures) * (0.5 + jitter / 2);

/** Sleeps before the next attempt, until `signal` is aborted at most. */
export const createBackoff =
  (
    { clock, random }: { readonly clock: Clock; readonly random: Random },
    backoff: Backoff,
  ): ((failures: number, signal: EndSignal) => Promise<void>) =>
  (failures, signal) =>
    sleep(clock, backoffMs(backoff, failures, random.fraction()), signal);
