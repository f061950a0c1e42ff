import type { Clock } from '../platform/clock.js';
import { ProviderFault } from './fault.js';

const TIMEOUT_MS = 10_000;

/**
 * Requests a page and returns its status code.
 * @throws ProviderFault (transient) when there is no response within 10 s
 */
export type FetchStatus = (url: string) => Promise<number>;

/** @param toLocalUrl translates a public address into one that this machine can reach */
export const createFetchStatus =
  ({ clock, toLocalUrl }: { clock: Clock; toLocalUrl: (url: string) => string }): FetchStatus =>
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
