import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel';
import { ProviderFault } from './fault.js';

const FAULTS_BEFORE_BREAK = 8;
const BREAK_MS = 10_000;

/**
 * Leaves a provider alone for 10 s after 8 faults in a row that say that it `isDown`; then one call tries whether it is there again.
 * @returns runs a call, or throws ProviderFault (transient, with the time to wait) at once
 */
export const createBreaker = (
  provider: string,
  isDown: (fault: ProviderFault) => boolean,
): (<Result>(call: () => Promise<Result>) => Promise<Result>) => {
  const breaker = circuitBreaker(
    handleWhen((error) => error instanceof ProviderFault && isDown(error)),
    { halfOpenAfter: BREAK_MS, breaker: new ConsecutiveBreaker(FAULTS_BEFORE_BREAK) },
  );
  return async (call) => {
    try {
      return await breaker.execute(call);
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      const message = `${provider} failed too often and is left alone for a while`;
      throw new ProviderFault({ provider, message, transient: true, retryAfterMs: BREAK_MS });
    }
  };
};
