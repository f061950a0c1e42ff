import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import type { Clock } from '../platform/clock.js';
import { ProviderFault } from './fault.js';

const TIMEOUT_MS = 10_000;

/**
 * Requests a page and returns its status code.
 * @throws ProviderFault (transient) when there is no response within 10 s
 */
export type FetchStatus = (url: string) => Promise<number>;

/**
 * @param toLocalUrl where to connect for a website that the service itself serves; null for every
 * other address
 */
export const createFetchStatus =
  ({ clock, toLocalUrl }: { clock: Clock; toLocalUrl: (url: URL) => URL | null }): FetchStatus =>
  async (url) => {
    const abort = new AbortController();
    const cancelTimeout = clock.schedule(TIMEOUT_MS, () => {
      abort.abort();
    });
    try {
      const asked = new URL(url);
      const local = toLocalUrl(asked);
      if (local !== null) return await statusAt(local, asked.host, abort.signal);
      const response = await fetch(asked, { signal: abort.signal });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      throw new ProviderFault({ provider: 'website', message: `${url} does not answer`, transient: true, cause: error });
    } finally {
      cancelTimeout();
    }
  };

/** `fetch` sends no `Host` of the caller's. */
const statusAt = (url: URL, host: string, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    get(url, { signal, agent: false, headers: { host } }, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
