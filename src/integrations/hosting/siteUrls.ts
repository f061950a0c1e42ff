import { hostnameIn } from '../../platform/hostname.js';
import { isLoopbackName } from '../../platform/publicAddress.js';
import { parseUrl } from '../../platform/urls.js';

/** Where the websites served here are. */
export interface SiteUrls {
  /** The public address of a website, with a slash at the end. */
  readonly urlOf: (name: string) => string;
  /**
   * Which website a request's `Host` header names, whether it exists or not; null when it names the
   * service itself.
   */
  readonly nameAt: (host: string) => string | null;
  /**
   * The hostname that a request's `Host` header names when it is neither the service's own nor that of a
   * website by its name; null when it names none that a website could have.
   */
  readonly otherHostname: (host: string) => string | null;
  /** Whether a public address is that of a website served here. */
  readonly isServed: (url: URL) => boolean;
  /** Whether `urlOf` gives each website an origin of its own. */
  readonly haveOrigins: boolean;
  /** The service's own origin. */
  readonly portalOrigin: () => string;
}

/** Browsers resolve every name below `localhost` to loopback (RFC 6761, 6.3). */
const loopbackParent = 'sites.localhost';

/**
 * @param baseUrl the service's public address, without a trailing slash
 * @param sitesUrl the origin before whose host a website's name is put; absent: websites are below
 * `/sites/` of the service, and on loopback below `sites.localhost` too
 */
export const createSiteUrls = (baseUrl: () => string, sitesUrl: string | undefined): SiteUrls => {
  const sites = sitesUrl === undefined ? undefined : new URL(sitesUrl);
  const base = (): string => baseUrl().replace(/\/$/, '');
  const parents = (portal: string): readonly string[] => [
    ...(sites === undefined ? [] : [sites.hostname]),
    ...(isLoopbackName(portal) ? [loopbackParent] : []),
  ];
  /** The service's own hostname; parsed once, because every request asks for it. */
  let portalOf = { url: '', hostname: '' };
  const portalName = (): string => {
    const url = baseUrl();
    if (portalOf.url !== url) portalOf = { url, hostname: parseUrl(url)?.hostname ?? '' };
    return portalOf.hostname;
  };
  const nameAt = (host: string): string | null => {
    const asked = plainName(host);
    const portal = portalName();
    if (asked === portal) return null;
    const parent = parents(portal).find((one) => asked.endsWith(`.${one}`));
    return parent === undefined ? null : asked.slice(0, -parent.length - 1);
  };
  return {
    haveOrigins: sites !== undefined,
    portalOrigin: () => new URL(baseUrl()).origin,
    urlOf: (name) => (sites === undefined ? `${base()}/sites/${name}/` : `${sites.protocol}//${name}.${sites.host}/`),
    nameAt,
    otherHostname: (host) => {
      const portal = portalName();
      if (plainName(host) === portal) return null;
      const hostname = hostnameIn(host);
      return hostname === null || hostname === portal || nameAt(host) !== null ? null : hostname;
    },
    isServed: (url) =>
      url.href.startsWith(`${base()}/sites/`) ||
      (url.protocol === sites?.protocol && url.port === sites.port && url.hostname.endsWith(`.${sites.hostname}`)),
  };
};

const plainName = (host: string): string => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
