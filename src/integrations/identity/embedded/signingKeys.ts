import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../../platform/clock.js';
import type { EncryptedRecords } from './encryptedRecords.js';

export const signingAlgorithm = 'ES256';
/** How long a key signs, in milliseconds. */
const periodMs = 30 * 24 * 60 * 60_000;

/** The keys of one period. */
export interface KeyRing {
  readonly period: number;
  /** Private keys: the one that signs first, then those that are published beside it. */
  readonly keys: readonly JWK[];
  /** Finds the public key that a token names. */
  readonly verify: JWTVerifyGetKey;
}

/**
 * Keys that sign tokens, one for each period of 30 days, the same in every process and after every restart: which period it is, the
 * clock tells, and of several processes that make its key at once the first one wins. The key of the next period is published a period
 * ahead, and that of the last one for a period more, so that nobody ever meets a token whose key they could not have known.
 */
export const createSigningKeys = (records: EncryptedRecords, clock: Clock): (() => Promise<KeyRing>) => {
  let ring: Promise<KeyRing> | undefined;
  let ringPeriod = -1;

  const find = async (period: number): Promise<JWK | null> => (await records.get('key', String(period))) as JWK | null;

  const findOrMake = async (period: number): Promise<JWK> => {
    const found = await find(period);
    if (found !== null) return found;
    const { privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
    const jwk = await exportJWK(privateKey);
    const key = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: signingAlgorithm, use: 'sig' };
    const isFirst = await records.insert('key', String(period), key, (period + 2) * periodMs - clock.now());
    return isFirst ? key : findOrMake(period);
  };

  const gather = async (period: number): Promise<KeyRing> => {
    const [current, next, last] = await Promise.all([findOrMake(period), findOrMake(period + 1), find(period - 1)]);
    const keys = [current, next, ...(last === null ? [] : [last])];
    return { period, keys, verify: createLocalJWKSet({ keys: keys.map(publicPart) }) };
  };

  return () => {
    const period = Math.floor(clock.now() / periodMs);
    if (ring === undefined || ringPeriod !== period) {
      const gathering = gather(period).catch((error: unknown) => {
        // Asked for again next time.
        if (ring === gathering) ring = undefined;
        throw error;
      });
      ring = gathering;
      ringPeriod = period;
    }
    return ring;
  };
};

const publicPart = ({ d: _private, ...rest }: JWK): JWK => rest;
