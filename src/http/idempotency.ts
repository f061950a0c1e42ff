import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Engine } from '../engine.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { JsonObject } from '../events/envelope.js';
import { sleep } from '../platform/clock.js';
import { createTransientMap } from '../platform/transientMap.js';
import type { ServiceCipher } from '../platform/vault/serviceKeys.js';
import type { Caller } from './auth/caller.js';
import { httpErrors } from './errors.js';
import type { Reply } from './reply.js';
import { decodeResponse, encodeResponse, type PeopleIn } from './storedResponse.js';

/**
 * Runs a write once for its `Idempotency-Key`: the same key, caller, path and request within 24 h
 * gets the first answer again, with `Idempotent-Replayed: true`. The command id and the secret are
 * stored before it runs, so that a repetition after a crash or a fault (which is not stored) is the
 * same command and makes nothing twice. While it runs no other process runs it, and no answer that
 * is stored is ever replaced.
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

type Run = (command: RepeatableCommand) => Promise<Reply>;

/** A command that may be run more than once, as the same one. */
export interface RepeatableCommand {
  readonly commandId: string;
  readonly secret: Uint8Array;
  /** An earlier run of it may have written something. */
  readonly isRepetition: boolean;
}

const collection = 'idempotency';
const retentionMs = 24 * 60 * 60_000;
/** How long a repetition waits for the first request to end. */
const timeoutMs = 10_000;
/**
 * A process that has not renewed its lease for so long counts as dead, and another one, which has
 * seen the lease all that time, runs the request again. That is safe: it is the same command.
 */
const leaseMs = 5_000;
/** Two renewals may fail before the lease ends. */
const renewalMs = 1_500;
/** Another process does not report when it is done. */
const pollMs = 100;
const secretBytes = 64;

type StoredCommand = JsonObject & {
  readonly request: string;
  readonly commandId: string;
  /** Encrypted. */
  readonly secret: string;
  readonly expiresAt: number;
  /**
   * Another time with each renewal, 0 once the run has failed or its answer could not be stored. Clocks of
   * processes differ, so others compare it with what they saw before and never with their own time.
   */
  readonly leaseUntil: number;
  /** Which run of the command has the lease. Absent in what version 0.1.0 stored. */
  readonly holder?: string;
  /**
   * Encrypted, because an answer may hold a secret; people in it are encrypted for themselves.
   * Absent until there is one.
   */
  readonly reply?: string;
};

interface Taken {
  readonly record: StoredCommand;
  readonly isRepetition: boolean;
}

/** Frees the lease: a repetition runs the same command again, which adds nothing. */
const failed: Partial<StoredCommand> = { leaseUntil: 0 };
const unstored = 'an answer could not be stored for its Idempotency-Key';

/** A command that this process runs: it holds the lease, unless it was taken over meanwhile. */
interface HeldCommand {
  /**
   * Ends the renewals and writes the outcome. Resolves with whether this run still had the lease;
   * otherwise it wrote nothing.
   */
  readonly end: (outcome: Partial<StoredCommand>) => Promise<boolean>;
}

/** @param records must survive a power cut, as the events of the command do */
export const createIdempotency = (engine: Engine, records: RecordStore): Idempotency => {
  const { clock, random, ids, logger, vault, personal } = engine;
  /** Runs of this process: their repetitions wait for them instead of polling. */
  const running = createTransientMap<string, Promise<unknown>>();

  const hold = (id: string, taken: StoredCommand): HeldCommand => {
    let current = taken;
    let ended = false;
    let cancel = (): void => undefined;
    let renewing = Promise.resolve();

    const write = async (change: Partial<StoredCommand>): Promise<boolean> => {
      for (;;) {
        const next = { ...current, ...change } as StoredCommand;
        if (await records.replace(collection, id, current, next, current.expiresAt)) {
          current = next;
          return true;
        }
        const stored = (await records.get(collection, id)) as StoredCommand | null;
        if (stored === null || stored.holder !== current.holder || stored.reply !== undefined) return false;
        // An earlier write of this run, which was taken to have failed.
        current = stored;
      }
    };

    const renew = async (): Promise<void> => {
      try {
        if (!(await write({ leaseUntil: clock.now() + leaseMs }))) return;
      } catch (err) {
        logger.warn({ err }, 'the lease of a request with an Idempotency-Key was not renewed');
      }
      renewLater();
    };
    const renewLater = (): void => {
      if (ended) return;
      cancel = clock.schedule(renewalMs, () => {
        renewing = renew();
      });
    };
    renewLater();

    return {
      end: async (outcome) => {
        ended = true;
        cancel();
        await renewing;
        return write(outcome);
      },
    };
  };

  /** Resolves `null` when the command was taken over meanwhile: then the other run's answer counts. */
  const execute = async (
    id: string,
    { record, isRepetition }: Taken,
    run: Run,
    peopleIn: PeopleIn,
    cipher: ServiceCipher,
  ): Promise<Reply | null> => {
    const held = hold(id, record);
    const outcomeOf = async (reply: Reply): Promise<Partial<StoredCommand>> => {
      try {
        return { reply: await cipher.encrypt(await encodeResponse(reply, peopleIn, personal), id) };
      } catch (err) {
        logger.warn({ err }, unstored);
        return failed;
      }
    };
    const end = async (outcome: Partial<StoredCommand>): Promise<boolean> => {
      try {
        return await held.end(outcome);
      } catch (err) {
        // What was written stays, and the lease ends by itself.
        logger.warn({ err }, unstored);
        return true;
      }
    };
    let reply: Reply;
    try {
      reply = await run({ commandId: record.commandId, secret: await cipher.decrypt(record.secret, id), isRepetition });
    } catch (error) {
      await end(failed);
      throw error;
    }
    const isKept = await end(await outcomeOf(reply));
    return isKept ? reply : null;
  };

  const attempt = async (id: string, { request, peopleIn, findAgain }: Asked, run: Run, hasWaited: boolean): Promise<Reply> => {
    if (hasWaited) await findAgain();
    let deadline = clock.now() + timeoutMs;
    const cipher = vault.cipher('doorstep kept answers');

    /** The command, when it is for this process to run it now. */
    const take = async (stored: StoredCommand | null, now: number): Promise<Taken | null> => {
      const lease = { leaseUntil: now + leaseMs, holder: ids.commandId() };
      if (stored !== null) {
        const taken = { ...stored, ...lease };
        const isTaken = await records.replace(collection, id, stored, taken, taken.expiresAt);
        return isTaken ? { record: taken, isRepetition: true } : null;
      }
      const fresh: StoredCommand = {
        request,
        commandId: ids.commandId(),
        secret: await cipher.encrypt(random.bytes(secretBytes), id),
        expiresAt: now + retentionMs,
        ...lease,
      };
      const isTaken = await records.insert(collection, id, fresh, fresh.expiresAt);
      return isTaken ? { record: fresh, isRepetition: false } : null;
    };

    /** What the last look saw, and for how long its lease has been the same. */
    let seen: StoredCommand | null = null;
    let seenMs = 0;
    let taken = await take(null, clock.now());
    for (;;) {
      if (taken !== null) {
        const reply = await execute(id, taken, run, peopleIn, cipher);
        if (reply !== null) return reply;
        deadline = clock.now() + timeoutMs;
        await findAgain();
      }
      const stored = (await records.get(collection, id)) as StoredCommand | null;
      const now = clock.now();
      if (stored !== null && stored.request !== request) throw httpErrors.keyReused();
      if (stored?.reply !== undefined) {
        return replayed(await decodeResponse(await cipher.decrypt(stored.reply, id), peopleIn, personal));
      }
      if (!isSameLease(stored, seen)) seenMs = 0;
      const isFree = stored === null || stored.leaseUntil === 0 || seenMs >= leaseMs;
      taken = isFree ? await take(stored, now) : null;
      if (isFree) continue;
      if (now >= deadline) throw httpErrors.stillRunning();
      seen = stored;
      await sleep(clock, pollMs);
      // What it slept at least: its clock may be set meanwhile.
      seenMs += pollMs;
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

const isSameLease = (one: StoredCommand | null, other: StoredCommand | null): boolean =>
  one?.holder === other?.holder && one?.leaseUntil === other?.leaseUntil;

/** The `Idempotency-Key` of a request. @throws Refused when it is none */
export const idempotencyKeyOf = ({ 'idempotency-key': key }: IncomingHttpHeaders): string | undefined => {
  if (key !== undefined && (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw httpErrors.invalid('headers', [{ field: 'Idempotency-Key', issue: 'must be 1 to 255 printable ASCII characters' }]);
  }
  return key;
};

const replayed = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, 'idempotent-replayed': 'true' } });
