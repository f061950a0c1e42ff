/** Parsers of web addresses. */
import { isIP } from 'node:net';
import { parseUrl } from '../urls.js';
import { Problem } from './values.js';

export const webAddress = (text: string): URL | undefined => {
  const url = parseUrl(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
};

const isPlain = (url: URL): boolean => url.username === '' && url.password === '' && !/[?#]/.test(url.href);

export const baseAddress = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url)
    ? url.href.replace(/\/+$/, '')
    : new Problem('must be an http or https address without credentials, query or fragment');
};

export const origin = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url) && url.pathname === '/'
    ? url.origin
    : new Problem('must be an origin such as https://portal.example.com, without a path');
};

/** An origin whose host is a name, so that names can be put before it. */
export const originOfNames = (text: string): string | Problem => {
  const value = origin(text);
  if (value instanceof Problem) return value;
  const { hostname } = new URL(value);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0
    ? value
    : new Problem('must be an origin whose host is a name, such as https://sites.example.net');
};

/**
 * Requires TLS except on this machine: the keys that verify tokens, and our credentials, travel
 * there.
 */
export const secureAddress = (text: string): URL | undefined => {
  const url = webAddress(text);
  if (url === undefined || !isPlain(url)) return undefined;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) ? url : undefined;
};

export const secureOnly = 'an https address (http only on this machine) without credentials, query or fragment';

/** The base address of an API that receives our token; without a trailing slash. */
export const apiAddress = (text: string): string | Problem =>
  secureAddress(text)?.href.replace(/\/+$/, '') ?? new Problem(`must be ${secureOnly}`);

/** As `apiAddress`, for a provider whose client accepts no path. */
export const apiOrigin = (text: string): string | Problem => {
  const url = secureAddress(text);
  return url?.pathname === '/' ? url.origin : new Problem(`must be ${secureOnly}, and without a path`);
};
