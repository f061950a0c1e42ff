import type { Clock } from '../platform/clock.js';
import { parseUrl } from '../platform/urls.js';
import { ProviderFault } from './fault.js';
import { createPublicRequest, forbiddenAddressOf, type PublicRequest, type PublicRequestParts } from './publicRequest.js';

const TIMEOUT_MS = 10_000;
const provider = 'website';

/**
 * Requests a page of the public Internet, and returns its status code after redirects.
 * @throws ProviderFault, transient when there is no response within 10 s
 */
export type FetchStatus = (url: string) => Promise<number>;

export const createFetchStatus = ({ clock, ...address }: PublicRequestParts & { readonly clock: Clock }): FetchStatus => {
  const request = createPublicRequest(address);
  return async (url) => {
    const asked = parseUrl(url);
    if (asked === undefined) throw new ProviderFault({ provider, message: `${url} is not an address`, transient: false });
    const abort = new AbortController();
    const cancelTimeout = clock.schedule(TIMEOUT_MS, () => {
      abort.abort();
    });
    try {
      return await statusOf(asked, request, abort.signal);
    } catch (error) {
      // Its editors may have led it there, and lead it elsewhere again.
      const message = forbiddenAddressOf(error)?.message ?? `${url} does not answer`;
      throw new ProviderFault({ provider, message, transient: true, cause: error });
    } finally {
      cancelTimeout();
    }
  };
};

/** As many as `fetch` follows. */
const MAX_REDIRECTS = 20;

const statusOf = async (first: URL, request: PublicRequest, signal: AbortSignal): Promise<number> => {
  let url = first;
  for (let followed = 0; ; followed += 1) {
    const response = await request(url, { signal, headers: { 'user-agent': 'Doorstep', accept: '*/*' } });
    response.destroy();
    const { statusCode: status = 0, headers } = response;
    // A website that took another address is found at it.
    if (status < 300 || status > 399 || headers.location === undefined || followed === MAX_REDIRECTS) return status;
    url = new URL(headers.location, url);
  }
};
