import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../../platform/clock.js';
import type { EncryptedRecords } from './encryptedRecords.js';

export const signingAlgorithm = 'ES256';
/** How long a key is used to sign, in milliseconds. */
const periodMs = 30 * 24 * 60 * 60_000;

/** The keys of one period. */
export interface KeyRing {
  readonly period: number;
  /** Private keys: first the one that signs, then those that are only published. */
  readonly keys: readonly JWK[];
  /** Selects the public key that a token names. */
  readonly verify: JWTVerifyGetKey;
}

/**
 * The signing keys, one per period of 30 days, shared by all processes: the clock determines the
 * period, and of several processes that create its key the first one wins. A key is published one
 * period before it signs and one period after, so that cached key sets always contain the key of a
 * valid token.
 */
export const createSigningKeys = (records: EncryptedRecords, clock: Clock): (() => Promise<KeyRing>) => {
  let ring: Promise<KeyRing> | undefined;
  let ringPeriod = -1;

  const find = async (period: number): Promise<JWK | null> => (await records.get('key', String(period))) as JWK | null;

  const findOrCreate = async (period: number): Promise<JWK> => {
    const found = await find(period);
    if (found !== null) return found;
    const { privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
    const jwk = await exportJWK(privateKey);
    const key = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: signingAlgorithm, use: 'sig' };
    const isFirst = await records.insert('key', String(period), key, (period + 2) * periodMs - clock.now());
    return isFirst ? key : findOrCreate(period);
  };

  const loadRing = async (period: number): Promise<KeyRing> => {
    const [current, next, last] = await Promise.all([findOrCreate(period), findOrCreate(period + 1), find(period - 1)]);
    const keys = [current, next, ...(last === null ? [] : [last])];
    return { period, keys, verify: createLocalJWKSet({ keys: keys.map(publicPart) }) };
  };

  return () => {
    const period = Math.floor(clock.now() / periodMs);
    if (ring === undefined || ringPeriod !== period) {
      const loading = loadRing(period).catch((error: unknown) => {
        // The next call tries again.
        if (ring === loading) ring = undefined;
        throw error;
      });
      ring = loading;
      ringPeriod = period;
    }
    return ring;
  };
};

const publicPart = ({ d: _private, ...rest }: JWK): JWK => rest;
