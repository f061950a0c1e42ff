import { BlockList, isIP } from 'node:net';

/** Of IPv4, what is nobody's in the public Internet (IANA's registry of special-purpose addresses, and multicast). */
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

/** Of IPv6, one block is the public Internet. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
/** Within it: what carries other addresses inside (Teredo, 6to4), benchmarks and documentation. */
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
 * Whether `address`, IPv4 or IPv6, belongs to the public Internet: not to this machine, a private network, a cloud's metadata service, or
 * nobody. Anything else than an address does not.
 */
export const isPublicAddress = (address: string): boolean => {
  // As a dual-stack socket names an IPv4 peer.
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIP(plain) === 4) return !notPublic4.check(plain, 'ipv4');
  return isIP(plain) === 6 && global6.check(plain, 'ipv6') && !notPublic6.check(plain, 'ipv6');
};

/**
 * Who sent a request: whoever connected; or, when that is in a network of our own, who the proxy there says that it has the request from
 * (the last entry of `X-Forwarded-For`). From outside, anybody could say it.
 */
export const senderOf = (peer: string, forwardedFor: string): string => {
  if (isPublicAddress(peer)) return peer;
  const nearest = forwardedFor.split(',').at(-1)?.trim() ?? '';
  return isIP(nearest) === 0 ? peer : nearest;
};
