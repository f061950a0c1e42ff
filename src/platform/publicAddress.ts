import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** IPv4 networks outside the public Internet (IANA's special-purpose registry, and multicast). */
const notPublic4 = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]) {
  const [address = '', prefix = ''] = network.split('/');
  notPublic4.addSubnet(address, Number(prefix), 'ipv4');
}

/** The one IPv6 block of the public Internet. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
/**
 * Exceptions within it: tunnels to other addresses (Teredo, 6to4), benchmarks and documentation.
 */
const notPublic6 = new BlockList();
for (const [address, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic6.addSubnet(address, prefix, 'ipv6');
}

/**
 * Whether `address` is an IPv4 or IPv6 address of the public Internet, as opposed to this machine,
 * a private network, a cloud's metadata service or an unassigned block. False for anything else.
 */
export const isPublicAddress = (address: string): boolean => {
  const plain = withoutTranslation(withoutMapping(address));
  if (isIP(plain) === 4) return !notPublic4.check(plain, 'ipv4');
  return isIP(plain) === 6 && global6.check(plain, 'ipv6') && !notPublic6.check(plain, 'ipv6');
};

/** What a network of IPv6 alone resolves a name with IPv4 addresses alone to (NAT64; RFC 6052, 2.1): the one that is reached. */
const withoutTranslation = (address: string): string => {
  const groups = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address)?.slice(1);
  if (groups === undefined) return address;
  const numbers = groups.map((group) => Number.parseInt(group, 16));
  return numbers.flatMap((number) => [number >> 8, number & 0xff]).join('.');
};

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether a host name or IP address (in a URL's form too) is this machine's: `localhost`, a name
 * below it (RFC 6761, 6.3), or a loopback address.
 */
export const isLoopbackName = (host: string): boolean => {
  const plain = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const version = isIP(plain);
  return version === 0 ? /^(?:.+\.)?localhost$/.test(plain) : loopback.check(plain, version === 4 ? 'ipv4' : 'ipv6');
};

/** Whether a peer is a proxy whose `X-Forwarded-For` is believed; everybody else could forge it. */
export type TrustsProxy = (peer: string) => boolean;

const trustsPrivate: TrustsProxy = (peer) => !isPublicAddress(peer);

/**
 * @param networks addresses and networks (`10.0.0.0/8`); `private` stands for every address that is
 *   not public
 */
export const createTrustsProxy = (networks: readonly string[]): TrustsProxy => {
  const listed = new BlockList();
  for (const network of networks) {
    // To be asked what is no address takes Node milliseconds the first time: a part of every start.
    if (network === 'private') continue;
    const [address = '', prefix] = network.split('/');
    const version = isIP(address);
    if (version === 0) continue;
    listed.addSubnet(address, Number(prefix ?? (version === 4 ? 32 : 128)), version === 4 ? 'ipv4' : 'ipv6');
  }
  const isPrivateTrusted = networks.includes('private');
  return (peer) => {
    const address = withoutMapping(peer);
    return listed.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') || (isPrivateTrusted && trustsPrivate(address));
  };
};

/**
 * The address that a request came from: the peer, or the last entry of `X-Forwarded-For` from a
 * proxy that is trusted (by default one in a private network).
 */
export const senderOf = (peer: string, forwardedFor: string, trustsProxy: TrustsProxy = trustsPrivate): string => {
  if (forwardedFor === '' || !trustsProxy(peer)) return peer;
  const nearest = forwardedFor.split(',').at(-1)?.trim() ?? '';
  return isIP(nearest) === 0 ? peer : nearest;
};

/**
 * Whom a request counts for: an IPv4 address, or an IPv6 /64 network, within which one household
 * can choose any address. Behind a proxy that `senderOf` believes it is the one that the proxy names.
 */
export const senderIn = (
  {
    socket,
    headers,
  }: {
    readonly socket: { readonly remoteAddress?: string | undefined };
    readonly headers: IncomingHttpHeaders;
  },
  trustsProxy?: TrustsProxy,
): string => {
  const { 'x-forwarded-for': forwarded = '' } = headers;
  const address = withoutMapping(senderOf(socket.remoteAddress ?? '', String(forwarded), trustsProxy));
  if (isIP(address) !== 6) return address;
  const [before = [], after = []] = address.split('::').map((groups) => (groups === '' ? [] : groups.split(':')));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros].slice(0, 4).join(':');
};

/** A dual-stack socket reports an IPv4 address as `::ffff:192.0.2.1`. */
const withoutMapping = (address: string): string => /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1] ?? address;
