import { createSiteUrls } from '../integrations/hosting/siteUrls.js';
import { isLoopbackName } from '../platform/publicAddress.js';
import type { Settings } from '../platform/settings/settings.js';

/** Where the service is reached. */
export interface Address {
  /** Public base address, without a trailing slash. */
  readonly baseUrl: () => string;
  /**
   * Where to connect, within this machine or network, for the public address of a website served
   * here; null for every other address. The request must have the public host as its `Host`: the
   * name of a website need not resolve here.
   */
  readonly toLocalUrl: (url: URL) => URL | null;
  /** Names and addresses to which the domains of websites served here lead in DNS. */
  readonly domainTargets: () => readonly string[];
  /** Whether a hostname is the service's own, or that of a website by its slug: no domain of a website. */
  readonly isOwnHostname: (hostname: string) => boolean;
  /** Called once this process listens, with its own address. */
  readonly listensAt: (url: string) => void;
}

export const createAddress = ({ http }: Settings): Address => {
  const { host, port, baseUrl: publicUrl, internalUrl, sitesUrl } = http;
  // Nothing asks before this process listens. A process without the API assumes that another
  // process has the address.
  let localUrl: string | undefined;
  const baseUrl = (): string => publicUrl ?? localUrl ?? addressOf(host, port);
  const siteUrls = createSiteUrls(baseUrl, sitesUrl);
  return {
    baseUrl,
    toLocalUrl: (url) => {
      if (!siteUrls.isServed(url)) return null;
      const inside = localUrl ?? internalUrl;
      const isBelowBase = url.href.startsWith(`${baseUrl()}/`);
      if (isBelowBase) return inside === undefined ? url : new URL(inside + url.href.slice(baseUrl().length));
      // A proxy that ends TLS knows the website's own name only.
      const { protocol, origin } = new URL(baseUrl());
      return inside === undefined && protocol === 'https:' ? url : new URL((inside ?? origin) + url.pathname + url.search);
    },
    domainTargets: () => (http.domainTargets.length > 0 ? http.domainTargets : [hostOf(baseUrl())]),
    isOwnHostname: (hostname) => {
      const own = [baseUrl(), ...(internalUrl === undefined ? [] : [internalUrl])].map(hostOf);
      const sitesHost = sitesUrl === undefined ? undefined : hostOf(sitesUrl);
      return (
        [...own, ...http.domainTargets, sitesHost].includes(hostname) ||
        (sitesHost !== undefined && hostname.endsWith(`.${sitesHost}`)) ||
        isLoopbackName(hostname)
      );
    },
    listensAt: (url) => {
      localUrl = url;
    },
  };
};

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const addressOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
