import { isUnderWay, retriedForMs, type Attempts, type FencingToken } from '../events/attempts.js';
import type { AttemptFailure, LeaseRenewal, LeaseStart } from '../events/fields.js';
import { backoffMs } from '../platform/backoff.js';

// What is decided about the lease of a task (events/attempts.ts). Pure: times arrive in commands.

/** What a worker reports about its lease, beside the number of the attempt. */
export type LeaseCommand = StartAttempt | RenewLease | RecordFailure;

export interface StartAttempt {
  readonly type: 'StartAttempt';
  readonly worker: string;
  /** Of the blocker that the worker has waited out. */
  readonly waitedOut?: FencingToken | undefined;
}

export interface RenewLease {
  readonly type: 'RenewLease';
  readonly lease: FencingToken;
  /** Its record was renewed, so that nothing is appended: the lease is only looked at. */
  readonly isRecorded?: boolean;
}

export interface RecordFailure {
  readonly type: 'RecordFailure';
  readonly fault: Fault;
  /** A fraction in [0, 1). */
  readonly jitter: number;
}

/** What went wrong in an attempt. */
export interface Fault {
  /** The message, for people. */
  readonly error: string;
  readonly transient: boolean;
  /** How long the provider asks to wait, in milliseconds; 0 when it does not ask. */
  readonly retryAfterMs: number;
}

/** How long a lease lasts without a sign of life, in milliseconds. A worker gives them while it works. */
export const LEASE_MS = 6_000;
/** So many attempts in a row may vanish with their workers before the next one is waited for longer. */
const QUICK_TAKEOVERS = 5;
/** How long a lapsed lease is waited for at most, in milliseconds. */
const MAX_TAKEOVER_MS = 5 * 60_000;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

/** What keeps a worker from beginning the next attempt. */
export interface Blocker {
  readonly token: FencingToken;
  readonly waitMs: number;
  /** Of the lease that it is; absent for a pause. */
  readonly leaseId?: string;
}

/**
 * A worker's own lease does not block it: it asks only when it is not working on the task, so it
 * failed to release that lease.
 * @param now the worker's clock, in milliseconds since the epoch: the rest of a pause that has
 *   begun is waited for
 */
export const blockerFor = ({ lease, pause, vanished }: Attempts, worker: string, now: number): Blocker | null => {
  if (lease !== undefined) {
    return lease.worker === worker ? null : { token: lease.token, waitMs: takeoverMs(vanished), leaseId: lease.id };
  }
  if (pause === undefined) return null;
  return { token: pause.token, waitMs: Math.max(0, Math.min(pause.ms, Date.parse(pause.until) - now)) };
};

/**
 * How long a lease is waited for. An attempt that ends its process, as one that runs out of memory, would
 * otherwise end each process a few seconds after its start, with all that it does besides. Restarts alone
 * make no attempt fail, however many there are.
 */
const takeoverMs = (vanished = 0): number =>
  Math.min(MAX_TAKEOVER_MS, LEASE_MS * 2 ** Math.max(0, vanished + 1 - QUICK_TAKEOVERS));

type Decided<Command> = Command & { readonly attempt: number; readonly at: string };

/** The lease that an attempt begins with. */
export const startOf = ({ attempt, worker, at }: { attempt: number; worker: string; at: string }): LeaseStart => ({
  attempt,
  worker,
  leaseUntil: later(at, LEASE_MS),
});

/**
 * Begins the attempt if it is the next one, unless another worker's lease or a pause blocks it that
 * this worker has not waited out.
 */
export const decideStart = <Event>(
  { attempt, lease, pause }: Attempts,
  command: Decided<StartAttempt>,
  started: (data: LeaseStart) => readonly Event[],
): readonly Event[] => {
  const { worker, waitedOut } = command;
  if (command.attempt !== attempt + 1) return [];
  const blocker = lease ?? pause;
  const isFree = blocker === undefined || blocker.token === waitedOut || lease?.worker === worker;
  return isFree ? started(startOf(command)) : [];
};

/** Prolongs the lease of that token, when it is still the current one and its record does not say so. */
export const decideRenewal = <Event>(
  attempts: Attempts,
  { attempt, lease, isRecorded = false, at }: Decided<RenewLease>,
  renewed: (data: LeaseRenewal) => readonly Event[],
): readonly Event[] =>
  !isRecorded && isUnderWay(attempts, attempt) && attempts.lease?.token === lease
    ? renewed({ attempt, leaseUntil: later(at, LEASE_MS) })
    : [];

/**
 * Ends the attempt with its fault.
 * @param failed `isGivenUp`: there is no further attempt
 */
export const decideFailure = <Event>(
  attempts: Attempts,
  command: Decided<RecordFailure>,
  failed: (data: AttemptFailure, isGivenUp: boolean) => readonly Event[],
  retry: RetryPolicy,
): readonly Event[] => {
  const { attempt, fault } = command;
  if (!isUnderWay(attempts, attempt)) return [];
  const { error, transient } = fault;
  const nextAttemptAt = retry(attempts, command);
  const failure = { attempt, error, transient, ...(nextAttemptAt !== undefined && { nextAttemptAt }) };
  return failed(failure, nextAttemptAt === undefined);
};

/**
 * Decides on the commands that all leased tasks have.
 * @param events of each; `failed` as of `decideFailure`
 */
export const decideLease = <Event>(
  attempts: Attempts,
  command: Decided<LeaseCommand>,
  events: {
    readonly started: (data: LeaseStart) => readonly Event[];
    readonly renewed: (data: LeaseRenewal) => readonly Event[];
    readonly failed: (data: AttemptFailure, isGivenUp: boolean) => readonly Event[];
  },
  retry: RetryPolicy,
): readonly Event[] => {
  switch (command.type) {
    case 'StartAttempt':
      return decideStart(attempts, command, events.started);
    case 'RenewLease':
      return decideRenewal(attempts, command, events.renewed);
    case 'RecordFailure':
      return decideFailure(attempts, command, events.failed, retry);
    default:
      return command satisfies never;
  }
};

/** When to try again after a fault, ISO 8601; `undefined` when it is not worth another attempt. */
export type RetryPolicy = (attempts: Attempts, command: Decided<RecordFailure>) => string | undefined;

/**
 * Exponential backoff with jitter, never sooner than the provider asks, until it has been retried
 * for `budgetMs`: the last attempt begins then. No retry after a permanent fault, or when the
 * provider asks to wait for longer than is left.
 * @param maxPauseMs the longest pause, unless the provider asks for a longer one
 */
export const retryFor = (budgetMs: number, maxPauseMs = MAX_PAUSE_MS): RetryPolicy => {
  const retry = retryAlways(maxPauseMs, budgetMs);
  return (attempts, command) => (command.fault.transient ? retry(attempts, command) : undefined);
};

/** As `retryFor`, after a permanent fault too. */
export const retryAlways =
  (maxPauseMs: number, budgetMs = Infinity): RetryPolicy =>
  (attempts, { fault, jitter, at }) => {
    const leftMs = budgetMs - retriedForMs(attempts, at);
    if (leftMs <= 0 || fault.retryAfterMs > leftMs) return undefined;
    const pauseMs = backoffMs({ firstMs: MIN_PAUSE_MS, maxMs: maxPauseMs }, attempts.failures, jitter);
    // Up to a tenth later than asked, at random: all refused callers got the same answer and must
    // not return together.
    const askedMs = fault.retryAfterMs * (1 + jitter / 10);
    return later(at, Math.round(Math.max(Math.min(pauseMs, leftMs), askedMs)));
  };
