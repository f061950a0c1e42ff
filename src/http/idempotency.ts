import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Engine } from '../engine.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { JsonObject } from '../events/envelope.js';
import { sleep } from '../platform/clock.js';
import type { Cipher } from '../platform/cipher.js';
import type { Caller } from './auth/caller.js';
import { httpErrors } from './errors.js';
import { bytesOf, replyOf } from './keptReply.js';
import type { Reply } from './reply.js';

/**
 * Runs a POST once for its `Idempotency-Key`: the same key, caller, path and request within 24 h gets the first answer again, with
 * `Idempotent-Replayed: true`. The command id and the secret are kept before it runs, so that a repetition after a crash or a
 * fault (which is not kept) is the same command and makes nothing twice.
 *
 * @throws Refused: another request with the key; HttpFault 503 when the first one takes too long; what `run` throws
 */
export type Idempotency = (
  asked: {
    readonly key: string;
    readonly caller: Caller;
    readonly path: string;
    /** Hash of what has to be the same. */
    readonly request: string;
  },
  run: (command: { readonly commandId: string; readonly secret: Uint8Array }) => Promise<Reply>,
) => Promise<Reply>;

const collection = 'idempotency';
const keptMs = 24 * 60 * 60_000;
/** How long a repetition waits for the first to end. */
const patienceMs = 10_000;
/** After this, a first one of which nothing was heard is taken for dead and run again, which is safe: it is the same command. */
const leaseMs = 5_000;
/** Another process does not tell when it is done. */
const lookAgainMs = 100;
const secretBytes = 64;

type KeptRecord = JsonObject & {
  readonly request: string;
  readonly commandId: string;
  /** Sealed. */
  readonly secret: string;
  readonly expiresAt: number;
  /** Until when the one that runs it is believed to be alive. */
  readonly leaseUntil: number;
  /** Sealed: an answer may hold a secret; within it, whoever it names is sealed for themselves. Absent until there is one. */
  readonly reply?: string;
};

export const createIdempotency = (engine: Engine, records: RecordStore): Idempotency => {
  const { clock, random, ids, logger, vault, personal } = engine;
  /** Runs of this process, so that their repetitions need not look again and again. */
  const running = new Map<string, Promise<unknown>>();

  const keep = async (id: string, record: KeptRecord, reply?: () => Promise<string>): Promise<void> => {
    try {
      const answered = reply === undefined ? record : { ...record, reply: await reply() };
      await records.put(collection, id, answered, record.expiresAt);
    } catch (err) {
      // What was written is written: a repetition runs the same command again, which adds nothing.
      logger.warn({ err }, 'an answer could not be kept for its Idempotency-Key');
    }
  };

  const execute = async (id: string, record: KeptRecord, run: Parameters<Idempotency>[1], cipher: Cipher): Promise<Reply> => {
    try {
      const reply = await run({ commandId: record.commandId, secret: cipher.decrypt(record.secret, id) });
      await keep(id, record, async () => cipher.encrypt(await bytesOf(reply, personal), id));
      return reply;
    } catch (error) {
      await keep(id, { ...record, leaseUntil: 0 });
      throw error;
    }
  };

  const attempt = async (id: string, request: string, run: Parameters<Idempotency>[1]): Promise<Reply> => {
    const giveUpAt = clock.now() + patienceMs;
    const cipher = await vault.cipher('doorstep kept answers');
    for (;;) {
      const now = clock.now();
      const fresh: KeptRecord = {
        request,
        commandId: ids.commandId(),
        secret: cipher.encrypt(random.bytes(secretBytes), id),
        expiresAt: now + keptMs,
        leaseUntil: now + leaseMs,
      };
      if (await records.insert(collection, id, fresh, fresh.expiresAt)) return execute(id, fresh, run, cipher);

      const kept = (await records.get(collection, id)) as KeptRecord | null;
      if (kept === null) continue;
      if (kept.request !== request) throw httpErrors.keyReused();
      if (kept.reply !== undefined) return replayed(await replyOf(cipher.decrypt(kept.reply, id), personal));
      if (kept.leaseUntil <= now) {
        const taken = { ...kept, leaseUntil: now + leaseMs };
        await records.put(collection, id, taken, taken.expiresAt);
        return execute(id, taken, run, cipher);
      }
      if (now >= giveUpAt) throw httpErrors.stillRunning();
      await sleep(clock, lookAgainMs);
    }
  };

  return async ({ key, caller, path, request }, run) => {
    const id = createHash('sha256')
      .update(JSON.stringify([caller.subject, caller.role, path, key]))
      .digest('hex');
    const giveUpAt = clock.now() + patienceMs;
    for (let first = running.get(id); first !== undefined; first = running.get(id)) {
      const enough = new AbortController();
      await Promise.race([first, sleep(clock, giveUpAt - clock.now(), enough.signal)]);
      enough.abort();
      if (clock.now() >= giveUpAt) throw httpErrors.stillRunning();
    }
    const mine = attempt(id, request, run);
    const ended = mine.then(
      () => running.delete(id),
      () => running.delete(id),
    );
    running.set(id, ended);
    return mine;
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
