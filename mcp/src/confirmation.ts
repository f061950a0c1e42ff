import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Caller } from './caller.js';
import type { Pending } from './tool.js';

/** How long a confirmation is good for. */
const lifetimeMs = 10 * 60_000;

/** What a destructive tool is about to do, as its dry run showed it. */
export interface Plan {
  /** What would happen, in our own words. */
  readonly effects: readonly string[];
  /** What tells the things that are destroyed from later ones of the same name: ids, revisions. */
  readonly targets: readonly (string | number)[];
  /** Text that people wrote, by what it is. */
  readonly quotes?: Readonly<Record<string, unknown>>;
}

export type Decision =
  | {
      readonly confirmed: true;
      /** Makes one effect of a confirmation that is used twice; one key for each request of the tool. */
      idempotencyKey(part: string): string;
    }
  | ({ readonly confirmed: false } & Pending);

/** What a confirmation is bound to: it is good for nothing else. */
export interface Bound {
  readonly tool: string;
  readonly caller: Caller;
  readonly arguments: unknown;
  readonly plan: Plan;
  /** Who was asked. What a person was shown in a form is not what an assistant was given, and the other way round. */
  readonly asked: 'assistant' | 'person';
}

export interface Confirmations {
  /** Seals a confirmation: opaque, good for ten minutes. */
  seal(bound: Bound): { readonly confirmation: string; readonly expiresAt: string };
  check(confirmation: string, bound: Bound): 'good' | 'lapsed' | 'wrong';
}

/** JSON with sorted keys: the same for equal values. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

/**
 * Confirmations that nobody else can make: an HMAC over tool, caller, arguments, what was shown and
 * the expiry. Nothing is stored, so that any process with the same key can check one.
 * @param key - at least 32 bytes
 * @param now - milliseconds
 */
export const createConfirmations = (key: Uint8Array, now: () => number = Date.now): Confirmations => {
  const macOf = (bound: Bound, expires: string, nonce: string): Buffer =>
    createHmac('sha256', key)
      .update(canonical(['doorstep confirmation 1', bound, expires, nonce]))
      .digest();
  return {
    seal: (bound) => {
      const expires = now() + lifetimeMs;
      const nonce = randomBytes(9).toString('base64url');
      const mac = macOf(bound, String(expires), nonce).toString('base64url');
      return { confirmation: `${String(expires)}.${nonce}.${mac}`, expiresAt: new Date(expires).toISOString() };
    },
    check: (confirmation, bound) => {
      const [expires = '', nonce = '', mac = ''] = confirmation.split('.');
      const given = Buffer.from(mac, 'base64url');
      const right = macOf(bound, expires, nonce);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return 'wrong';
      return Number(expires) > now() ? 'good' : 'lapsed';
    },
  };
};

/** Derived from the confirmation, so that using it twice has one effect. */
export const keyOf = (confirmation: string, part: string): string =>
  `mcp-${createHash('sha256').update(`${confirmation} ${part}`).digest('base64url')}`;
