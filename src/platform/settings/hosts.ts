/** Parsers of hosts, ports and networks. */
import { isIP } from 'node:net';
import { canonicalHostname } from '../hostname.js';
import { parseUrl } from '../urls.js';
import { listOf, Problem } from './values.js';

export const hostName = (text: string): string | Problem =>
  isIP(text) !== 0 || (/^[\w.-]+$/.test(text) && !/^[\d.]+$/.test(text))
    ? text
    : new Problem('must be a host name or an IP address, without scheme, port or brackets');

export const portNumber = (text: string): number | Problem =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : new Problem('must be a whole number from 0 to 65535');

const proxyNetwork = (text: string): string | Problem => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isNetwork =
    more.length === 0 && bits > 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
  return text === 'private' || isNetwork
    ? text
    : new Problem('must be an address, a network such as 10.0.0.0/8, or private; none, alone, is nobody');
};

/** `none` is nobody. */
export const proxyNetworks = (text: string): readonly string[] | Problem => (text === 'none' ? [] : listOf(proxyNetwork)(text));

/** Where domains of websites lead in DNS: a name, or an address. */
export const domainTarget = (text: string): string | Problem => {
  const address = canonicalAddressOf(text);
  return address ?? canonicalHostname(text) ?? new Problem('must be a host name such as sites.example.net, or an IP address');
};

/** An IPv6 address has many forms, of which DNS gives this one. */
const canonicalAddressOf = (text: string): string | undefined => {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  return parseUrl(`http://[${text}]/`)?.hostname.slice(1, -1);
};

/** A DNS server: its address, and its port where that is not 53. */
export const dnsServer = (text: string): string | Problem => {
  const [, address, port = '53'] = /^(\[[^\]]+\]|[^:]+|[\da-f:]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isAddress = address !== undefined && isIP(address.replace(/^\[|\]$/g, '')) !== 0;
  const isPort = Number(port) > 0 && Number(port) <= 65_535;
  return isAddress && isPort
    ? text
    : new Problem('must be an IP address, with a port as in 192.0.2.53:5353 or [2001:db8::53]:5353');
};
