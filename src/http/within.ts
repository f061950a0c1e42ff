import { ProviderFault } from '../integrations/fault.js';
import type { Clock } from '../platform/clock.js';

/**
 * What is asked of a provider, or a fault when it takes longer than the answer can wait.
 * @param provider its name in the fault, as in `The hosting provider`
 * @throws ProviderFault, transient; what `asked` throws
 */
export const within = <Result>(clock: Clock, timeoutMs: number, provider: string, asked: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const stopWaiting = clock.schedule(timeoutMs, () => {
      reject(new ProviderFault({ provider, message: `${provider} did not answer in time`, transient: true }));
    });
    asked.then(resolve, reject).finally(stopWaiting);
  });
