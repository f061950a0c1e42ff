import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../platform/publicAddress.js';

/** Requests to this address are not allowed. */
export class ForbiddenAddress extends Error {}

const forbidden = (host: string): ForbiddenAddress => new ForbiddenAddress(`${host} is not an address of the public Internet`);

export interface PublicRequestParts {
  /**
   * The address at which this process reaches a site served by the service, which is asked with the
   * public host as its `Host`; null for every other address.
   */
  readonly servedSiteUrl: (url: URL) => URL | null;
  /** Resolves a host name to all its addresses. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>;
  /** Whether requests to an address are allowed. */
  readonly isPublic?: (address: string) => boolean;
}

/**
 * Requests an address of the public Internet, and nothing inside this network: websites lead where their editors want.
 * Redirects are not followed.
 * @throws ForbiddenAddress; what Node.js throws, with a ForbiddenAddress as it is or as its `cause`
 */
export type PublicRequest = (
  url: URL,
  options: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>>; readonly maxHeaderSize?: number },
) => Promise<IncomingMessage>;

export const createPublicRequest = ({
  servedSiteUrl,
  resolve = resolveBySystem,
  isPublic = isPublicAddress,
}: PublicRequestParts): PublicRequest => {
  /**
   * Connects to exactly the addresses that were checked, so that a name which resolves differently
   * the second time (DNS rebinding) cannot bypass the check.
   */
  const checkedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
          callback(forbidden(hostname), '', 0);
        } else if (options.all === true) {
          callback(null, [...addresses]);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 0);
      },
    );
  };

  return (url, { headers, ...options }) =>
    new Promise((resolveWith, reject) => {
      const local = servedSiteUrl(url);
      const target = local ?? url;
      if (!/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
        throw forbidden(url.host || url.protocol);
      const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
      // Node does not call `lookup` for an IP address.
      if (local === null && isIP(host) !== 0 && !isPublic(host)) throw forbidden(url.host);
      const send = target.protocol === 'https:' ? requestHttps : requestHttp;
      const where = local === null ? { headers, lookup: checkedLookup } : { headers: { ...headers, host: url.host } };
      send(target, { ...options, agent: false, ...where }, resolveWith)
        .on('error', reject)
        .end();
    });
};

/** The ForbiddenAddress behind an error, if there is one. */
export const forbiddenAddressOf = (error: unknown): ForbiddenAddress | undefined => {
  const { cause } = error as { cause?: unknown };
  return [error, cause].find((each) => each instanceof ForbiddenAddress);
};

const resolveBySystem = (hostname: string): Promise<LookupAddress[]> => lookup(hostname, { all: true });
