import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base32Text } from './ids.js';

/**
 * Personal access tokens: `svc_pat_`, 40 random base62 characters, and a 6-character checksum
 * (CRC-32 of the rest), so that a mistyped or truncated token is refused without a look-up and
 * secret scanners can find one (api.md, section 2).
 */
export const tokenPrefix = 'svc_pat_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 40;
const checksumLength = 6;

/** How many leading characters of a token may be displayed, so that its owner recognises it. */
export const visiblePrefixLength = 12;

const checksumOf = (text: string): string => {
  let remainder = crc32(text);
  let checksum = '';
  for (let index = 0; index < checksumLength; index += 1) {
    checksum = alphabet.charAt(remainder % 62) + checksum;
    remainder = Math.floor(remainder / 62);
  }
  return checksum;
};

/**
 * Makes a token from at least 64 random bytes.
 * @throws RangeError when fewer than 40 of them are usable
 */
export const accessTokenFrom = (bytes: Uint8Array): string => {
  // Bytes from 248 on are skipped: taken modulo 62 they would favour the first letters.
  const letters = [...bytes].filter((byte) => byte < 248).slice(0, secretLength);
  if (letters.length < secretLength) throw new RangeError('too few usable random bytes for an access token');
  const text = tokenPrefix + letters.map((byte) => alphabet.charAt(byte % 62)).join('');
  return text + checksumOf(text);
};

const tokenPattern = new RegExp(`^${tokenPrefix}[0-9A-Za-z]{${String(secretLength + checksumLength)}}$`);

/** Whether `text` has the form and the checksum of a token. */
export const isAccessToken = (text: string): boolean =>
  tokenPattern.test(text) && checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength);

/**
 * What is stored of a token. The key names its stream, so that a new token is found without an
 * index and is valid on every instance at once.
 */
export interface TokenHash {
  /** SHA-256, hex. */
  readonly hash: string;
  /** 130 bits of the hash as base32; the id of the API key's stream. */
  readonly key: string;
}

export const hashAccessToken = (token: string): TokenHash => {
  const digest = hash('sha256', token, 'buffer');
  return { hash: digest.toString('hex'), key: base32Text(digest.subarray(0, 17), 26) };
};
