import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../../platform/clock.js';
import type { Generation } from '../../../platform/vault/serviceKeys.js';
import type { Vault } from '../../../platform/vault/vault.js';
import type { EncryptedRecords } from './encryptedRecords.js';

export const signingAlgorithm = 'ES256';
/** How long a key is used to sign, in milliseconds. */
const periodMs = 30 * 24 * 60 * 60_000;

/** The keys of one generation and one period. */
export interface KeyRing {
  readonly generation: Generation;
  /** Private keys: first the one that signs, then those that are only published. */
  readonly keys: readonly JWK[];
  /** Selects the public key that a token names. */
  readonly verify: JWTVerifyGetKey;
}

/**
 * The signing keys, one per period of 30 days, shared by all processes: the clock determines the
 * period, and of several processes that create its key the first one wins. A key is published one
 * period before it signs and one period after, so that cached key sets always contain the key of a
 * valid token. Only keys of the vault's newest generation are valid, which it is asked for each
 * time; as long as it is the same, so is the ring.
 */
export const createSigningKeys = (
  recordsOf: (generation: Generation) => EncryptedRecords,
  vault: Pick<Vault, 'generation'>,
  clock: Clock,
): (() => Promise<KeyRing>) => {
  let current: { readonly name: string; readonly ring: Promise<KeyRing> } | undefined;

  const loadRing = async (generation: Generation, period: number): Promise<KeyRing> => {
    const records = recordsOf(generation);
    // As version 0.1.0 named them.
    const nameOf = (of: number): string => (generation.number === 0 ? '' : `${String(generation.number)}/`) + String(of);

    const find = async (of: number): Promise<JWK | null> => (await records.get('key', nameOf(of))) as JWK | null;

    const findOrCreate = async (of: number): Promise<JWK> => {
      const found = await find(of);
      if (found !== null) return found;
      const { privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
      const jwk = await exportJWK(privateKey);
      const key = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: signingAlgorithm, use: 'sig' };
      const isFirst = await records.insert('key', nameOf(of), key, (of + 2) * periodMs - clock.now());
      return isFirst ? key : findOrCreate(of);
    };

    const [own, next, last] = await Promise.all([findOrCreate(period), findOrCreate(period + 1), find(period - 1)]);
    const keys = [own, next, ...(last === null ? [] : [last])];
    return { generation, keys, verify: createLocalJWKSet({ keys: keys.map(publicPart) }) };
  };

  return async () => {
    const generation = await vault.generation();
    const period = Math.floor(clock.now() / periodMs);
    const name = `${String(generation.number)}/${String(period)}`;
    if (current?.name !== name) {
      const ring = loadRing(generation, period).catch((error: unknown) => {
        // The next call tries again.
        if (current?.ring === ring) current = undefined;
        throw error;
      });
      current = { name, ring };
    }
    return current.ring;
  };
};

const publicPart = ({ d: _private, ...rest }: JWK): JWK => rest;
