import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen, type CircuitBreakerPolicy } from 'cockatiel';
import type { Clock } from '../platform/clock.js';
import { ProviderFault } from './fault.js';

const MAX_CONSECUTIVE_FAULTS = 8;
const BREAK_MS = 10_000;

/**
 * Creates a circuit breaker that opens for 10 s after 8 consecutive faults for which `isDown` is
 * true; then one call tries the provider again.
 * @returns a function that runs a call or, while the breaker is open, throws ProviderFault
 * (transient, with the time to wait) at once
 */
export const createCircuitBreaker = (
  provider: string,
  isDown: (fault: ProviderFault) => boolean,
  clock: Pick<Clock, 'now'>,
): (<Result>(call: () => Promise<Result>) => Promise<Result>) => {
  let openedAt = -Infinity;
  const create = (): CircuitBreakerPolicy => {
    const breaker = circuitBreaker(
      handleWhen((error) => error instanceof ProviderFault && isDown(error)),
      { halfOpenAfter: BREAK_MS, breaker: new ConsecutiveBreaker(MAX_CONSECUTIVE_FAULTS) },
    );
    breaker.onBreak(() => {
      openedAt = clock.now();
    });
    return breaker;
  };
  let breaker = create();
  return async (call) => {
    // The clock was set back: an open breaker, which compares times, would stay open for as long.
    if (clock.now() < openedAt) {
      openedAt = -Infinity;
      breaker = create();
    }
    try {
      return await breaker.execute(call);
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      const message = `${provider} failed too often and is left alone for a while`;
      throw new ProviderFault({ provider, message, transient: true, retryAfterMs: BREAK_MS });
    }
  };
};
