import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { base32Text } from './ids.js';
import type { DataKey, Vault } from './vault.js';

/**
 * Personal data as it is kept in events and read models: `sealed:<key id>:<base64url>`, AES-256-GCM under the key of the person's
 * address. The same value of the same person gives the same text, so that deciders and projections compare and find it without ever
 * opening it. Once the person is erased, nothing opens it. Text of any other form stands for itself: events that were written before.
 */
export interface PersonalData {
  /**
   * A keyed hash (HMAC-SHA-256, 26 base32 characters): finds what belongs to an address or a subject without the name of a stream
   * telling it, or a list of addresses being enough to try.
   */
  blindIndex(text: string): string;
  /**
   * Seals `text` for the person of a lower-case address, whose key is durable when this resolves.
   * @param how `makeKey: false`: without a key the text is returned as it is, and nothing sealed can be equal to it
   */
  seal(address: string, text: string, how?: { readonly makeKey?: boolean }): Promise<string>;
  /** As `seal`, when the subject tells a person's address; any other says nothing and stays as it is. */
  sealSubject(subject: string, how?: { readonly makeKey?: boolean }): Promise<string>;
  /** The plain text; `null` when the person was erased. */
  open(text: string): Promise<string | null>;
  /** As `open`, with `[erased]` for who was erased. */
  shown(text: string): Promise<string>;
  /** Whether the sealed text's person is known as before, and not erased or about to be. */
  isCurrent(text: string): Promise<boolean>;
  /** What is sealed for the address from now on is sealed for another person than `text` was. */
  retire(text: string): Promise<void>;
  /** Nothing that was sealed for the person of this text is ever opened again. */
  destroy(text: string): Promise<void>;
}

/** Shown in place of a value that was erased, where there has to be one. */
export const erased = '[erased]';

const form = /^sealed:([0-9a-z]{26}):([\w-]+)$/;
const ivBytes = 12;
const tagBytes = 16;

const keyIdOf = (text: string): string | undefined => form.exec(text)?.[1];

const sealWith = ({ id, encryption, mac }: DataKey, text: string): string => {
  // As JSON, which holds every string exactly.
  const plain = Buffer.from(JSON.stringify(text));
  // Made of the text instead of chance: equal texts give equal results, and no two different texts ever share one.
  const iv = createHmac('sha256', mac).update(plain).digest().subarray(0, ivBytes);
  const cipher = createCipheriv('aes-256-gcm', encryption, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(id));
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  return `sealed:${id}:${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
};

const openWith = ({ id, encryption }: DataKey, sealed: string): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
  return JSON.parse(plain.toString()) as string;
};

/** A subject with the form of a sealed text must not pass for one. */
const tellsPerson = (subject: string): boolean => subject.includes('@') || form.test(subject);

export const createPersonalData = async (vault: Vault): Promise<PersonalData> => {
  const indexKey = await vault.serviceKey('doorstep blind index');
  // The same few people come again and again, and every request of theirs asks.
  const indexes = new LRUCache<string, string>({ max: 5_000 });
  const opened = new LRUCache<string, { readonly key: DataKey; readonly text: string }>({ max: 5_000 });

  const blindIndex = (text: string): string => {
    let index = indexes.get(text);
    if (index === undefined) {
      index = base32Text(createHmac('sha256', indexKey).update(text).digest().subarray(0, 17), 26);
      indexes.set(text, index);
    }
    return index;
  };

  const seal: PersonalData['seal'] = async (address, text, { makeKey = true } = {}) => {
    const key = await vault.keyOf(`person/${blindIndex(address)}`, makeKey);
    return key === null ? text : sealWith(key, text);
  };

  const open = async (text: string): Promise<string | null> => {
    const [, id, sealed] = form.exec(text) ?? [];
    if (id === undefined || sealed === undefined) return text;
    const key = await vault.key(id);
    if (key === null) {
      opened.delete(text);
      return null;
    }
    const known = opened.get(text);
    if (known?.key === key) return known.text;
    const plain = openWith(key, sealed);
    opened.set(text, { key, text: plain });
    return plain;
  };

  return {
    blindIndex,
    seal,
    sealSubject: (subject, how) => (tellsPerson(subject) ? seal(subject.toLowerCase(), subject, how) : Promise.resolve(subject)),
    open,
    shown: async (text) => (await open(text)) ?? erased,
    isCurrent: async (text) => {
      const id = keyIdOf(text);
      return id === undefined || vault.isCurrent(id);
    },
    retire: async (text) => {
      const id = keyIdOf(text);
      if (id !== undefined) await vault.retire(id);
    },
    destroy: async (text) => {
      const id = keyIdOf(text);
      if (id !== undefined) await vault.destroy(id);
    },
  };
};

/**
 * The same data for an engine that plans: it makes, retires and destroys no key. What the plan
 * retired or destroyed is so for whoever asks it.
 */
export const planPersonalData = (personal: PersonalData): PersonalData => {
  const retired = new Set<string | undefined>();
  const destroyed = new Set<string | undefined>();
  const isRetired = (text: string): boolean => retired.has(keyIdOf(text));
  const open = (text: string): Promise<string | null> =>
    destroyed.has(keyIdOf(text)) ? Promise.resolve(null) : personal.open(text);

  const retire = (text: string): Promise<void> => {
    const id = keyIdOf(text);
    if (id !== undefined) retired.add(id);
    return Promise.resolve();
  };

  const seal: PersonalData['seal'] = async (address, text) => {
    const sealed = await personal.seal(address, text, { makeKey: false });
    return isRetired(sealed) ? text : sealed;
  };

  return {
    blindIndex: (text) => personal.blindIndex(text),
    seal,
    sealSubject: (subject) => (tellsPerson(subject) ? seal(subject.toLowerCase(), subject) : Promise.resolve(subject)),
    open,
    shown: async (text) => (await open(text)) ?? erased,
    isCurrent: (text) => (isRetired(text) ? Promise.resolve(false) : personal.isCurrent(text)),
    retire,
    destroy: async (text) => {
      await retire(text);
      const id = keyIdOf(text);
      if (id !== undefined) destroyed.add(id);
    },
  };
};
