import { TooManyConflicts } from '../commands/handleCommand.js';
import { Refused } from '../commands/refusal.js';
import { EventStoreError } from '../events/store/eventStore.js';
import { ProviderFault } from '../integrations/fault.js';
import type { Clock } from '../platform/clock.js';
import { ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';
import { LEASE_MS, obstacleFor, type Attempts, type Fault, type Token } from './attempts.js';
import type { Turn } from './reactor.js';

/** What an attempt is given to act under. */
export interface Held {
  /**
   * To be called right before anything is made at the other side: a worker that slept through its lease makes nothing more.
   * @throws LeaseLost
   */
  confirm(): void;
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Makes attempts until nothing is left to do or the worker stops; waits out other workers' leases and the pauses between attempts.
 * @param look what is open, with its attempts as they stand; null when nothing is left
 * @param attempt takes the lease, having `waitedOut` that obstacle, and acts when it got it
 */
export const attemptUntilDone = async <Open extends { readonly attempts: Attempts }>(parts: {
  clock: Clock;
  worker: string;
  turn: Turn;
  look: () => Promise<Open | null>;
  attempt: (open: Open, waitedOut: Token | undefined) => Promise<void>;
}): Promise<void> => {
  const { clock, worker, turn, look, attempt } = parts;
  let waitedOut: Token | undefined;
  while (!turn.signal.aborted) {
    const open = await look();
    if (open === null) return;
    const obstacle = obstacleFor(open.attempts, worker, clock.now());
    if (obstacle === null || obstacle.token === waitedOut) {
      await attempt(open, waitedOut);
    } else {
      await turn.pause(obstacle.waitMs);
      waitedOut = obstacle.token;
    }
  }
};

/** How long a worker counts on a lease: less than others wait for it to lapse, by what an append's answer may take. */
const COUNT_ON_MS = (LEASE_MS * 2) / 3;
const RENEW_EVERY_MS = LEASE_MS / 3;

/**
 * Runs `act` under `lease`, which has just been taken, and renews it for as long as that takes.
 * @param renew answers with the new lease, or null when it is somebody else's by now; when it throws, `onFault` is told and the
 * renewal is tried again in time
 * @throws ProviderFault (transient) when `timeoutMs` have passed; what `act` throws
 */
export const runAttempt = async <Result>(parts: {
  clock: Clock;
  timeoutMs: number;
  lease: Token;
  renew: (lease: Token) => Promise<Token | null>;
  onFault: (error: unknown) => void;
  act: (held: Held) => Promise<Result>;
}): Promise<Result> => {
  const { clock, timeoutMs, renew, onFault, act } = parts;
  let lease: Token | null = parts.lease;
  let heldUntil = clock.now() + COUNT_ON_MS;
  let over = false;
  let cancelRenewal = (): void => undefined;
  let cancelTimeout = (): void => undefined;

  const renewLater = (): void => {
    cancelRenewal = clock.schedule(RENEW_EVERY_MS, () => {
      void renewNow();
    });
  };
  const renewNow = async (): Promise<void> => {
    if (lease === null) return;
    const from = clock.now();
    try {
      lease = await renew(lease);
      heldUntil = from + COUNT_ON_MS;
    } catch (error) {
      onFault(error);
    }
    if (!over) renewLater();
  };
  const held: Held = {
    confirm: () => {
      if (over || lease === null || clock.now() >= heldUntil) throw new LeaseLost('the lease has lapsed');
    },
  };

  renewLater();
  const timeout = new Promise<never>((_, reject) => {
    cancelTimeout = clock.schedule(timeoutMs, () => {
      const message = `No answer within ${String(timeoutMs / 1_000)} s`;
      reject(new ProviderFault({ provider: 'timeout', message, transient: true }));
    });
  });
  try {
    return await Promise.race([act(held), timeout]);
  } finally {
    over = true;
    cancelRenewal();
    cancelTimeout();
  }
};

/** A fault of our own stores says nothing about the other side: it is no outcome of an attempt, which is to be made again. */
const isOurs = (error: unknown): boolean =>
  error instanceof EventStoreError || error instanceof TooManyConflicts || error instanceof ReadModelStoreUnavailable;

/**
 * What an attempt's error says about the attempt, in words that may be shown.
 * @throws the error itself when it is a fault of the stores or a lost lease
 */
export const faultOf = (error: unknown): Fault => {
  if (isOurs(error) || error instanceof LeaseLost) throw error;
  if (error instanceof ProviderFault) {
    return { error: error.message, transient: error.transient, retryAfterMs: error.retryAfterMs ?? 0 };
  }
  if (error instanceof Refused) return { error: error.message, transient: false, retryAfterMs: 0 };
  return { error: 'An unexpected error occurred', transient: true, retryAfterMs: 0 };
};
