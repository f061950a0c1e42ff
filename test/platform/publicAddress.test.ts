import { expect, test } from '@jest/globals';
import { createTrustsProxy, isPublicAddress, senderIn } from '../../src/platform/publicAddress.js';

test.each([
  '1.1.1.1',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ['this machine', '127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['a private network', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.1.2.3'],
  ['the link', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  [
    'one that carries another',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '::127.0.0.1',
  ],
  ['everybody or nobody', '224.0.0.1', '255.255.255.255', 'ff02::1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '2001:db8::1'],
  ['nothing', '', 'localhost', '127.1', '0x7f000001', '1.1.1.1.1', '[::1]'],
])('%s is not public', (_, ...addresses) => {
  expect(addresses.filter(isPublicAddress)).toStrictEqual([]);
});

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ['private', ['private'], ['127.0.0.1', '::1', '10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'], ['93.184.216.34', '2606:4700::1']],
  ['an address', ['10.0.0.7'], ['10.0.0.7', '::ffff:10.0.0.7'], ['10.0.0.8', '127.0.0.1']],
  ['networks', ['93.184.216.0/24', '2606:4700::/32'], ['93.184.216.34', '2606:4700::1'], ['93.184.217.1', '10.0.0.1', '::1']],
  ['nobody', [], [], ['127.0.0.1', '10.0.0.1', '::1']],
])('of trusted proxies, %s: whom they name is the sender, others speak for themselves', (_, networks, trusted, others) => {
  const trustsProxy = createTrustsProxy(networks);
  const headers = { 'x-forwarded-for': '10.9.9.9, 8.8.8.8' };
  const senderOf = (remoteAddress: string): string => senderIn({ socket: { remoteAddress }, headers }, trustsProxy);
  expect(trusted.map(senderOf)).toStrictEqual(trusted.map(() => '8.8.8.8'));
  expect(others.map(senderOf)).not.toContain('8.8.8.8');
});
