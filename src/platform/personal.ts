import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { createCache } from './cache.js';
import { base32Text } from './ids.js';
import type { DataKey } from './vault/dataKeys.js';
import type { Vault } from './vault/vault.js';
import { canonicalAddress } from './emailAddress.js';

/**
 * Personal data as events and read models hold it: `encrypted:<key id>:<base64url>`, AES-256-GCM
 * under the key of the person's address. The same value of the same person gives the same text, so
 * that deciders and projections compare and find it without decrypting it. Once the person is
 * erased, it cannot be decrypted. Text of any other form stands for itself.
 */
export interface PersonalData {
  /**
   * A keyed hash (HMAC-SHA-256, 26 base32 characters). It stands for an address or a subject in the
   * names of streams, which neither reveal it nor can be found from a list of addresses.
   */
  blindIndex(text: string): string;
  /**
   * Keyed hashes of search terms, so that an index finds personal data by its parts and does not
   * hold them (docs/security.md says what it reveals all the same).
   */
  blindTerms(terms: readonly string[]): readonly string[];
  /**
   * Encrypts `text` for the person of a lower-case address, whose key is durable when this
   * resolves.
   * @param how `makeKey: false`: without a key the text is returned as it is, and nothing encrypted
   *   can be equal to it
   */
  encrypt(address: string, text: string, how?: { readonly makeKey?: boolean }): Promise<string>;
  /**
   * As `encrypt`, when the subject is a person's address; any other is not personal and stays as it
   * is.
   */
  encryptSubject(subject: string, how?: { readonly makeKey?: boolean }): Promise<string>;
  /** The plain text; `null` when the person was erased. */
  decrypt(text: string): Promise<string | null>;
  /** As `decrypt`, with `[erased]` in place of the text of a person who was erased. */
  display(text: string): Promise<string>;
  /**
   * Whether the key of this text is still the current one of its address: the person was not
   * erased, and no erasure has begun.
   */
  isCurrent(text: string): Promise<boolean>;
  /**
   * From now on the address of this text belongs to another person: what is encrypted for it gets
   * another key.
   */
  retire(text: string): Promise<void>;
  /**
   * Destroys the key: nothing that was encrypted for the person of this text can be decrypted any
   * more.
   */
  cryptoShred(text: string): Promise<void>;
}

/** Stands for an erased value where a value is required. */
export const erased = '[erased]';

const form = /^encrypted:([0-9a-z]{26}):([\w-]+)$/;
const ivBytes = 12;
const tagBytes = 16;
/** Short, because there are many; what two terms share is found, and then compared. */
const termBytes = 6;

const keyIdOf = (text: string): string | undefined => form.exec(text)?.[1];

/** Names the person that an encrypted text is about, by the id of their key; absent of any other text. */
export const personKeyOf = keyIdOf;

const encryptWith = ({ id, encryption, mac }: DataKey, text: string): string => {
  // As JSON, which holds every string exactly.
  const plain = Buffer.from(JSON.stringify(text));
  // Derived from the text, not random: equal texts give equal results, and different texts never
  // share an IV.
  const iv = createHmac('sha256', mac).update(plain).digest().subarray(0, ivBytes);
  const cipher = createCipheriv('aes-256-gcm', encryption, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(id));
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  return `encrypted:${id}:${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
};

const decryptWith = ({ id, encryption }: DataKey, encrypted: string): string => {
  const bytes = Buffer.from(encrypted, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
  return JSON.parse(plain.toString()) as string;
};

/** A subject that has the form of an encrypted text must not be taken for one. */
const isPersonal = (subject: string): boolean => subject.includes('@') || form.test(subject);

export const createPersonalData = async (vault: Vault): Promise<PersonalData> => {
  const indexKey = await vault.indexKey();
  // A few people make most requests, and each request needs an index.
  const indexes = createCache<string>(5_000);
  const decrypted = createCache<{ readonly key: DataKey; readonly text: string }>(5_000);

  const blindIndex = (text: string): string => {
    let index = indexes.get(text);
    if (index === undefined) {
      index = base32Text(createHmac('sha256', indexKey).update(text).digest().subarray(0, 17), 26);
      indexes.set(text, index);
    }
    return index;
  };

  const encrypt: PersonalData['encrypt'] = async (address, text, { makeKey = true } = {}) => {
    const key = await vault.keyOf(`person/${blindIndex(address)}`, makeKey);
    return key === null ? text : encryptWith(key, text);
  };

  const decrypt = async (text: string): Promise<string | null> => {
    const known = decrypted.get(text);
    const id = known?.key.id ?? keyIdOf(text);
    if (id === undefined) return text;
    const key = await vault.key(id);
    if (key === null) {
      decrypted.delete(text);
      return null;
    }
    if (known?.key === key) return known.text;
    const plain = decryptWith(key, text.slice(text.lastIndexOf(':') + 1));
    decrypted.set(text, { key, text: plain });
    return plain;
  };

  // A key of their own: a term is never equal to an index.
  const termKey = createHmac('sha256', indexKey).update('search terms').digest();
  // Of three characters: names and addresses share most of them.
  const termHashes = createCache<string>(10_000);
  const blindTerm = (term: string): string => {
    let hash = termHashes.get(term);
    if (hash === undefined) {
      hash = createHmac('sha256', termKey).update(term).digest().subarray(0, termBytes).toString('base64url');
      termHashes.set(term, hash);
    }
    return hash;
  };

  return {
    blindIndex,
    blindTerms: (terms) => terms.map(blindTerm),
    encrypt,
    encryptSubject: (subject, how) =>
      isPersonal(subject) ? encrypt(canonicalAddress(subject), subject, how) : Promise.resolve(subject),
    decrypt,
    display: async (text) => (await decrypt(text)) ?? erased,
    isCurrent: async (text) => {
      const id = keyIdOf(text);
      return id === undefined || vault.isCurrent(id);
    },
    retire: async (text) => {
      const id = keyIdOf(text);
      if (id !== undefined) await vault.retireKey(id);
    },
    cryptoShred: async (text) => {
      const id = keyIdOf(text);
      if (id !== undefined) await vault.destroyKey(id);
    },
  };
};

/**
 * The same data for an engine that plans: it makes, retires and destroys no key. Its own reads see
 * what it retired or destroyed.
 */
export const planPersonalData = (personal: PersonalData): PersonalData => {
  const retired = new Set<string | undefined>();
  const destroyed = new Set<string | undefined>();
  const isRetired = (text: string): boolean => retired.has(keyIdOf(text));
  const decrypt = (text: string): Promise<string | null> =>
    destroyed.has(keyIdOf(text)) ? Promise.resolve(null) : personal.decrypt(text);

  const retire = (text: string): Promise<void> => {
    const id = keyIdOf(text);
    if (id !== undefined) retired.add(id);
    return Promise.resolve();
  };

  const encrypt: PersonalData['encrypt'] = async (address, text) => {
    const encrypted = await personal.encrypt(address, text, { makeKey: false });
    return isRetired(encrypted) ? text : encrypted;
  };

  return {
    blindIndex: (text) => personal.blindIndex(text),
    blindTerms: (terms) => personal.blindTerms(terms),
    encrypt,
    encryptSubject: (subject) => (isPersonal(subject) ? encrypt(canonicalAddress(subject), subject) : Promise.resolve(subject)),
    decrypt,
    display: async (text) => (await decrypt(text)) ?? erased,
    isCurrent: (text) => (isRetired(text) ? Promise.resolve(false) : personal.isCurrent(text)),
    retire,
    cryptoShred: async (text) => {
      await retire(text);
      const id = keyIdOf(text);
      if (id !== undefined) destroyed.add(id);
    },
  };
};
