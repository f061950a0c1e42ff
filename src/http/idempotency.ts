import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Engine } from '../engine.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { JsonObject } from '../events/envelope.js';
import { sleep } from '../platform/clock.js';
import type { ServiceCipher } from '../platform/vault.js';
import type { Caller } from './auth/caller.js';
import { httpErrors } from './errors.js';
import type { Reply } from './reply.js';
import { decodeResponse, encodeResponse, type PeopleIn } from './storedResponse.js';

/**
 * Runs a POST once for its `Idempotency-Key`: the same key, caller, path and request within 24 h
 * gets the first answer again, with `Idempotent-Replayed: true`. The command id and the secret are
 * stored before it runs, so that a repetition after a crash or a fault (which is not stored) is the
 * same command and makes nothing twice.
 *
 * @throws Refused: another request with the key; HttpFault 503 when the first one takes too long;
 *   what `run` and `findAgain` throw
 */
export type Idempotency = (asked: Asked, run: Run) => Promise<Reply>;

interface Asked {
  readonly key: string;
  readonly caller: Caller;
  readonly path: string;
  /** Hash of what has to be the same. */
  readonly request: string;
  readonly peopleIn: PeopleIn;
  /** Called after each wait; throws when the caller may not do it any more. */
  readonly findAgain: () => Promise<void>;
}

type Run = (command: { readonly commandId: string; readonly secret: Uint8Array }) => Promise<Reply>;

const collection = 'idempotency';
const retentionMs = 24 * 60 * 60_000;
/** How long a repetition waits for the first request to end. */
const timeoutMs = 10_000;
/**
 * After this, a first request that has not reported is run again, which is safe: it is the same
 * command.
 */
const leaseMs = 5_000;
/** Another process does not report when it is done. */
const pollMs = 100;
const secretBytes = 64;

type StoredCommand = JsonObject & {
  readonly request: string;
  readonly commandId: string;
  /** Encrypted. */
  readonly secret: string;
  readonly expiresAt: number;
  /** Until then, the process that runs it is taken to be alive. */
  readonly leaseUntil: number;
  /**
   * Encrypted, because an answer may hold a secret; people in it are encrypted for themselves.
   * Absent until there is one.
   */
  readonly reply?: string;
};

export const createIdempotency = (engine: Engine, records: RecordStore): Idempotency => {
  const { clock, random, ids, logger, vault, personal } = engine;
  /** Runs of this process: their repetitions wait for them instead of polling. */
  const running = new Map<string, Promise<unknown>>();

  const store = async (id: string, record: StoredCommand, reply?: () => Promise<string>): Promise<void> => {
    try {
      const answered = reply === undefined ? record : { ...record, reply: await reply() };
      await records.put(collection, id, answered, record.expiresAt);
    } catch (err) {
      // What was written stays: a repetition runs the same command again, which adds nothing.
      logger.warn({ err }, 'an answer could not be stored for its Idempotency-Key');
    }
  };

  const execute = async (
    id: string,
    record: StoredCommand,
    run: Run,
    peopleIn: PeopleIn,
    cipher: ServiceCipher,
  ): Promise<Reply> => {
    try {
      const reply = await run({ commandId: record.commandId, secret: await cipher.decrypt(record.secret, id) });
      await store(id, record, async () => cipher.encrypt(await encodeResponse(reply, peopleIn, personal), id));
      return reply;
    } catch (error) {
      await store(id, { ...record, leaseUntil: 0 });
      throw error;
    }
  };

  const attempt = async (id: string, { request, peopleIn, findAgain }: Asked, run: Run, hasWaited: boolean): Promise<Reply> => {
    if (hasWaited) await findAgain();
    const deadline = clock.now() + timeoutMs;
    const cipher = vault.cipher('doorstep kept answers');
    for (;;) {
      const now = clock.now();
      const fresh: StoredCommand = {
        request,
        commandId: ids.commandId(),
        secret: await cipher.encrypt(random.bytes(secretBytes), id),
        expiresAt: now + retentionMs,
        leaseUntil: now + leaseMs,
      };
      if (await records.insert(collection, id, fresh, fresh.expiresAt)) return execute(id, fresh, run, peopleIn, cipher);

      const stored = (await records.get(collection, id)) as StoredCommand | null;
      if (stored === null) continue;
      if (stored.request !== request) throw httpErrors.keyReused();
      if (stored.reply !== undefined)
        return replayed(await decodeResponse(await cipher.decrypt(stored.reply, id), peopleIn, personal));
      if (stored.leaseUntil <= now) {
        const taken = { ...stored, leaseUntil: now + leaseMs };
        await records.put(collection, id, taken, taken.expiresAt);
        return execute(id, taken, run, peopleIn, cipher);
      }
      if (now >= deadline) throw httpErrors.stillRunning();
      await sleep(clock, pollMs);
      await findAgain();
    }
  };

  return async (asked, run) => {
    const { key, caller, path } = asked;
    const id = createHash('sha256')
      // A token is given no answer that another one was given: that may hold a token which outlives it.
      .update(JSON.stringify([caller.subject, caller.role, path, key, ...(caller.tokenId === undefined ? [] : [caller.tokenId])]))
      .digest('hex');
    const deadline = clock.now() + timeoutMs;
    let hasWaited = false;
    for (let first = running.get(id); first !== undefined; first = running.get(id)) {
      const enough = new AbortController();
      await Promise.race([first, sleep(clock, deadline - clock.now(), enough.signal)]);
      enough.abort();
      hasWaited = true;
      if (clock.now() >= deadline) throw httpErrors.stillRunning();
    }
    const own = attempt(id, asked, run, hasWaited);
    const ended = own.then(
      () => running.delete(id),
      () => running.delete(id),
    );
    running.set(id, ended);
    return own;
  };
};

/** The `Idempotency-Key` of a request. @throws Refused when it is none */
export const idempotencyKeyOf = ({ 'idempotency-key': key }: IncomingHttpHeaders): string | undefined => {
  if (key !== undefined && (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw httpErrors.invalid('headers', [{ field: 'Idempotency-Key', issue: 'must be 1 to 255 printable ASCII characters' }]);
  }
  return key;
};

const replayed = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, 'idempotent-replayed': 'true' } });
