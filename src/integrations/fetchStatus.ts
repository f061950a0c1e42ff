import type { Clock } from '../platform/clock.js';
import { ProviderFault } from './fault.js';

const TIMEOUT_MS = 10_000;

/**
 * Asks for a page and answers with its status code.
 * @param toLocalUrl where to ask for an address from this machine, when the public one cannot be reached from here
 * @throws ProviderFault (transient) when nobody answers within 10 s
 */
export const createFetchStatus =
  ({ clock, toLocalUrl }: { clock: Clock; toLocalUrl: (url: string) => string }): ((url: string) => Promise<number>) =>
  async (url) => {
    const abort = new AbortController();
    const cancelTimeout = clock.schedule(TIMEOUT_MS, () => {
      abort.abort();
    });
    try {
      const response = await fetch(toLocalUrl(url), { signal: abort.signal });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      throw new ProviderFault({ provider: 'website', message: `${url} does not answer`, transient: true, cause: error });
    } finally {
      cancelTimeout();
    }
  };
