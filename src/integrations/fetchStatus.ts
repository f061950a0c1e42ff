import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import type { Clock } from '../platform/clock.js';
import { parseUrl } from '../platform/urls.js';
import { ProviderFault } from './fault.js';

const TIMEOUT_MS = 10_000;

/**
 * Requests a page and returns its status code.
 * @throws ProviderFault, transient when there is no response within 10 s
 */
export type FetchStatus = (url: string) => Promise<number>;

/**
 * @param toLocalUrl where to connect for a website that the service itself serves; null for every
 * other address
 */
export const createFetchStatus =
  ({ clock, toLocalUrl }: { clock: Clock; toLocalUrl: (url: URL) => URL | null }): FetchStatus =>
  async (url) => {
    const asked = parseUrl(url);
    if (asked === undefined) {
      throw new ProviderFault({ provider: 'website', message: `${url} is not an address`, transient: false });
    }
    const abort = new AbortController();
    const cancelTimeout = clock.schedule(TIMEOUT_MS, () => {
      abort.abort();
    });
    try {
      return await statusOf(asked, toLocalUrl, abort.signal);
    } catch (error) {
      throw new ProviderFault({ provider: 'website', message: `${url} does not answer`, transient: true, cause: error });
    } finally {
      cancelTimeout();
    }
  };

/** As many as `fetch` follows. */
const MAX_REDIRECTS = 20;

const statusOf = async (first: URL, toLocalUrl: (url: URL) => URL | null, signal: AbortSignal): Promise<number> => {
  let url = first;
  for (let followed = 0; ; followed += 1) {
    const local = toLocalUrl(url);
    if (local === null) {
      const response = await fetch(url, { signal });
      await response.body?.cancel();
      return response.status;
    }
    const { status, location } = await answerAt(local, url.host, signal);
    // A website that took another address is found at it.
    if (status < 300 || status > 399 || location === undefined || followed === MAX_REDIRECTS) return status;
    url = new URL(location, url);
  }
};

/** `fetch` sends no `Host` of the caller's. */
const answerAt = (url: URL, host: string, signal: AbortSignal): Promise<{ status: number; location: string | undefined }> =>
  new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    get(url, { signal, agent: false, headers: { host } }, (response) => {
      response.destroy();
      resolve({ status: response.statusCode ?? 0, location: response.headers.location });
    }).on('error', reject);
  });
