import type { SecretVault } from './vault.js';

/**
 * The same secrets for an engine that plans: it writes none and destroys none, but reads them as if
 * it had.
 */
export const planSecrets = (vault: SecretVault): SecretVault => {
  const planned = new Map<string, Uint8Array | null>();
  const secretOf = async (name: string): Promise<Uint8Array | null> => {
    const secret = planned.get(name);
    return secret === undefined ? vault.secret(name) : secret;
  };
  return {
    storeSecret: async (name, secret) => {
      if ((await secretOf(name)) === null) planned.set(name, secret);
    },
    secret: secretOf,
    deleteSecret: (name) => {
      planned.set(name, null);
      return Promise.resolve();
    },
    purgeSecrets: () => Promise.reject(new Error('a plan cannot purge the vault')),
    generation: () => vault.generation(),
    cipher: (purpose, generation) => vault.cipher(purpose, generation),
    serviceKey: (purpose, generation) => vault.serviceKey(purpose, generation),
    indexKey: () => vault.indexKey(),
    rotate: () => Promise.reject(new Error('a plan cannot rotate the vault')),
    endSessions: () => Promise.reject(new Error('a plan cannot end sessions')),
  };
};
