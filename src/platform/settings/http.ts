import { domainTarget, hostName, portNumber, proxyNetworks } from './hosts.js';
import type { SettingsReader } from './reader.js';
import { listOf, numberUpTo, oneOf, Problem } from './values.js';
import { baseAddress, origin, originOfNames } from './webAddresses.js';

export interface HttpSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /**
   * Public base address without a trailing slash; absent: derived from the address listened on.
   */
  readonly baseUrl: string | undefined;
  /**
   * The origin before whose host a website's slug is put, so that each website has an origin of its
   * own; absent: websites are below `/sites/` of the base address.
   */
  readonly sitesUrl: string | undefined;
  /**
   * The address at which other processes of the service reach its api, when they cannot use the
   * public one; without a trailing slash.
   */
  readonly internalUrl: string | undefined;
  /**
   * Names and addresses to which domains of websites lead in DNS; empty: the host of the base
   * address.
   */
  readonly domainTargets: readonly string[];
  /** Origins that browsers may call from; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /**
   * A port that serves only `/healthz`, `/readyz` and `/metrics`, whatever roles run; absent:
   * none.
   */
  readonly healthPort: number | undefined;
  /** `health`: `/metrics` is served on the health port alone. */
  readonly metrics: 'public' | 'health';
  /** Requests under way, and connections, that one sender may have in this process. */
  readonly senderLimit: number;
  /** Requests a second that each caller may make of this process; absent: no end. */
  readonly rateLimit: number | undefined;
  /** Addresses and networks of reverse proxies; `private`: all that are not public. */
  readonly trustedProxies: readonly string[];
}

export const readHttp = ({ read, given, refuse }: SettingsReader): HttpSettings => {
  const http: HttpSettings = {
    host: read('HOST', hostName, '127.0.0.1'),
    port: read('PORT', portNumber, 3000),
    baseUrl: read('BASE_URL', baseAddress, undefined),
    sitesUrl: read('SITES_URL', originOfNames, undefined),
    internalUrl: read('INTERNAL_URL', baseAddress, undefined),
    domainTargets: read('DOMAIN_TARGET', listOf(domainTarget), []),
    corsOrigins: read('CORS_ORIGINS', listOf(origin), []),
    healthPort: read('HEALTH_PORT', portNumber, undefined),
    metrics: read('METRICS', oneOf(['public', 'health']), 'public'),
    rateLimit: read('RATE_LIMIT', requestsPerSecond, undefined),
    senderLimit: read('SENDER_LIMIT', numberUpTo(2_000), 200),
    trustedProxies: read('TRUSTED_PROXIES', proxyNetworks, ['private']),
  };
  // A website's slug could be the very name of the service.
  const domain = publicHost(http).split('.').slice(1).join('.');
  if (http.sitesUrl !== undefined && domain === new URL(http.sitesUrl).hostname) {
    refuse('SITES_URL', 'must be another host than the one right above BASE_URL, where a website could take its name');
  }
  if (http.metrics === 'health' && given('HEALTH_PORT') === undefined) {
    refuse('HEALTH_PORT', 'is needed because METRICS is health');
  }
  return http;
};

/** The host by which people reach the service. */
export const publicHost = ({ baseUrl, host }: HttpSettings): string => (baseUrl === undefined ? host : new URL(baseUrl).hostname);

/** As in `10/s`. */
const requestsPerSecond = (text: string): number | Problem => {
  const [, number] = /^([1-9]\d{0,5})\/s$/.exec(text) ?? [];
  return number === undefined ? new Problem('must be a number of requests a second, such as 10/s') : Number(number);
};
