import { leaseOf, type Attempts, type FencingToken, type Lease } from '../events/attempts.js';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Random } from '../platform/random.js';
import { storeFaultLevel } from '../projections/store/storeFault.js';
import { LeaseLost, underLease, type Held, type HeldLease } from './heldLease.js';
import { blockerFor, type Blocker, type RenewLease, type StartAttempt } from './lease.js';
import { isSameSign, noSign, type LeaseSign } from './leaseRecords.js';
import type { TaskContext } from './reactionContext.js';

/** A task, folded from its stream. */
interface OpenTask {
  readonly attempts: Attempts;
}

/**
 * What a process hands to `runLeasedTask`.
 * @template Open the task while something is left to do
 * @template Outcome commands that record what came of an attempt, without its number
 */
export interface LeasedTask<Open extends OpenTask, Outcome extends object> {
  /** Names the worker in leases. */
  readonly worker: string;
  /** A logger whose lines name the task. */
  readonly logger: (open: Open) => Logger;
  /** The open task with its attempts; null when nothing is left to do. */
  readonly load: () => Promise<Open | null>;
  /** Handles a command on the task's stream; resolves with the open task afterwards. */
  readonly handle: (command: (StartAttempt | RenewLease | Outcome) & { attempt: number }, open: Open) => Promise<Open | null>;
  /** How long an attempt may take, in milliseconds, from its beginning or `restartTimeout` on. */
  readonly timeoutMs: (open: Open) => number;
  /**
   * Acts under the lease of `open`; resolves with the outcome to record, or null for none. It first
   * checks what is done already: an earlier attempt may have ended at any point.
   */
  readonly execute: (open: Open, lease: HeldLease<Outcome>) => Promise<Outcome | null>;
  /** Each renewal records how far the attempt came, so that it is an event. */
  readonly recordsProgress?: true;
  /** What to log and to record when `execute` throws. Absent: the reaction is repeated. */
  readonly failure?: {
    readonly message: string;
    /** @throws the error itself when it is no outcome of the attempt: the reaction is repeated */
    readonly outcome: (error: unknown, jitter: number, open: Open) => Outcome | Promise<Outcome>;
  };
}

interface Parts {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Carries out a task whose stream is the lock: the worker that appends the start of an attempt
 * acts, and renews its lease meanwhile, beside the log. Resolves when nothing is left to do, or the worker stops. A
 * lost lease ends an attempt without an error; the new holder continues.
 * @throws faults of our own stores, which are no outcome of an attempt
 */
export const runLeasedTask = <Open extends OpenTask, Outcome extends object>(
  { clock, random }: Parts,
  context: TaskContext,
  task: LeasedTask<Open, Outcome>,
): Promise<void> => {
  const { worker, load, handle, execute } = task;

  const run = (open: Open, lease: Lease): Promise<Outcome | null> => {
    const { attempt } = open.attempts;
    const renew = async ({ token }: Lease, isRecorded: boolean): Promise<Lease | null> => {
      const after = await handle({ type: 'RenewLease', lease: token, isRecorded, attempt }, open);
      return after?.attempts.attempt === attempt ? leaseOf(after.attempts, worker) : null;
    };
    const record = async (outcome: Outcome): Promise<void> => {
      const after = await handle({ ...outcome, attempt }, open);
      const isHeld = after === null || (after.attempts.attempt === attempt && leaseOf(after.attempts, worker) !== null);
      // A later attempt may be this worker's own: this one was given up for its time.
      if (!isHeld) throw new LeaseLost('another attempt has the lease');
    };
    const onFault = (err: unknown, message: string): void => {
      task.logger(open)[storeFaultLevel(err)]({ err, attempt }, message);
    };
    const act = ({ assertHeld, restartTimeout }: Held) => {
      const assertRunning = (): void => {
        if (context.signal.aborted) throw new LeaseLost('the worker stops');
      };
      return execute(open, {
        assertHeld,
        restartTimeout: () => {
          assertRunning();
          restartTimeout();
        },
        pause: async (ms) => {
          await context.pause(ms);
          assertRunning();
          // After its time an attempt goes on by itself, and must not take a place of the next one.
          assertHeld();
        },
        record,
      });
    };
    const records = task.recordsProgress === true ? null : context.leases;
    return underLease({ clock, timeoutMs: task.timeoutMs(open), lease, records, renew, onFault, act });
  };

  /** Makes one attempt and records its outcome. */
  const attemptUnder = async (open: Open, lease: Lease): Promise<Open | null> => {
    const { attempt } = open.attempts;
    let outcome: Outcome | null;
    try {
      outcome = await run(open, lease);
    } catch (error) {
      if (error instanceof LeaseLost) return null;
      if (task.failure === undefined) throw error;
      outcome = await task.failure.outcome(error, random.fraction(), open);
      task.logger(open).warn({ err: error, attempt }, task.failure.message);
    }
    return outcome === null ? null : handle({ ...outcome, attempt }, open);
  };

  return attemptUntilDone({
    clock,
    context,
    worker,
    load,
    attempt: async (loaded, waitedOut) => {
      const attempt = loaded.attempts.attempt + 1;
      const started = await handle({ type: 'StartAttempt', worker, waitedOut, attempt }, loaded);
      let open = started?.attempts.attempt === attempt ? started : null;
      let last: FencingToken | null = null;
      while (open !== null) {
        const lease = leaseOf(open.attempts, worker);
        // An outcome may have begun the next attempt; one that changed nothing leaves the lease as
        // it was.
        if (lease === null || lease.token === last) return;
        last = lease.token;
        open = await attemptUnder(open, lease);
      }
    },
  });
};

/**
 * Makes attempts until nothing is left to do or the worker stops; waits out other workers' leases
 * and the pauses between attempts.
 * @param parts `attempt`: begins when `waitedOut`, the blocker of that token, is over
 */
export const attemptUntilDone = async <Open extends OpenTask>(parts: {
  clock: Clock;
  context: TaskContext;
  worker: string;
  load: () => Promise<Open | null>;
  attempt: (open: Open, waitedOut: FencingToken | undefined) => Promise<void>;
}): Promise<void> => {
  const { clock, context, worker, load, attempt } = parts;
  const signOf = ({ leaseId }: Blocker): Promise<LeaseSign> =>
    leaseId === undefined ? Promise.resolve(noSign) : context.leases.see(leaseId);
  /** Whether the holder of the lease will find that it has lost it. */
  const claim = async ({ leaseId }: Blocker, seen: LeaseSign): Promise<boolean> =>
    leaseId === undefined || (await context.leases.change(leaseId, seen, { claimedBy: worker })) !== null;

  let waited: { readonly token: FencingToken; readonly sign: LeaseSign } | undefined;
  while (!context.signal.aborted) {
    const open = await load();
    if (open === null) return;
    const blocker = blockerFor(open.attempts, worker, clock.now());
    const sign = blocker === null ? noSign : await signOf(blocker);
    const isWaitedOut = blocker !== null && blocker.token === waited?.token && isSameSign(sign, waited.sign);
    if (blocker === null || (isWaitedOut && (await claim(blocker, sign)))) {
      await attempt(open, blocker?.token);
    } else {
      await context.pause(blocker.waitMs);
      waited = { token: blocker.token, sign };
    }
  }
};
