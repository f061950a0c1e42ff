import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base32Text } from './ids.js';

/**
 * Personal access tokens: `svc_pat_`, 40 random base62 characters, and 6 of checksum (CRC-32 of what stands before), so that a
 * mistyped or truncated one is refused without a look-up and secret scanners can find it (api.md, section 2).
 */
export const tokenPrefix = 'svc_pat_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 40;
const checksumLength = 6;

/** Characters of a token that may be shown: its owner recognises it by them. */
export const visiblePrefixLength = 12;

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < checksumLength; index += 1) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
};

/** The token made from `bytes`, of which there must be at least 64 random ones; fewer than 40 usable among them is a RangeError. */
export const accessTokenFrom = (bytes: Uint8Array): string => {
  // A byte from 248 on would make the first letters likelier than the others: it is passed over.
  const letters = [...bytes].filter((byte) => byte < 248).slice(0, secretLength);
  if (letters.length < secretLength) throw new RangeError('too few usable random bytes for an access token');
  const text = tokenPrefix + letters.map((byte) => alphabet.charAt(byte % 62)).join('');
  return text + checksumOf(text);
};

const form = new RegExp(`^${tokenPrefix}[0-9A-Za-z]{${String(secretLength + checksumLength)}}$`);

/** Whether `text` can be a token at all. */
export const isAccessToken = (text: string): boolean =>
  form.test(text) && checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength);

/** What is stored of a token, and the stream that it is found by: no index stands between, so a new one is valid everywhere at once. */
export interface TokenHash {
  /** SHA-256, hex. */
  readonly hash: string;
  /** 130 bits of it as base32, the name of the key's stream. */
  readonly key: string;
}

export const hashAccessToken = (token: string): TokenHash => {
  const digest = hash('sha256', token, 'buffer');
  return { hash: digest.toString('hex'), key: base32Text(digest.subarray(0, 17), 26) };
};
