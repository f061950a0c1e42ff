import { backoffMs } from '../platform/backoff.js';

/**
 * The lease of a task that only one worker may carry out at a time, folded from the task's stream:
 * who holds it, how often an attempt failed, when the next may begin. Pure: times arrive from the
 * command or the event.
 *
 * Clocks of different processes are never compared. A worker that finds a lease or a pause waits
 * for its length on its own clock, and then passes its fencing token with the start. If the token
 * is no longer current (a renewed lease), the start changes nothing.
 */
export interface Attempts {
  /** Number of the last attempt begun; 0 before the first. */
  readonly attempt: number;
  /** Attempts that reported a fault. One whose worker died reported nothing and is not counted. */
  readonly failures: number;
  /** When the first attempt began, ISO 8601. */
  readonly firstAt?: string;
  /** When the last attempt began, ISO 8601, by the clock of the worker that began it. */
  readonly startedAt?: string;
  /**
   * How long it has been retried since the first fault, in milliseconds: the pauses and the attempts
   * that failed, each measured by the clock of one worker. Time in which no worker ran is left out.
   */
  readonly retriedForMs: number;
  /** Attempts in a row, up to the last one begun, whose workers died or stopped. Absent: none. */
  readonly vanished?: number;
  /** Present while an attempt runs. */
  readonly lease?: Lease;
  /**
   * Present after a transient fault: until when, ISO 8601, and its length at the time, in
   * milliseconds.
   */
  readonly pause?: { readonly until: string; readonly ms: number; readonly token: FencingToken };
}

/** Names a lease or a pause: the revision of the event that began or renewed it. */
export type FencingToken = bigint;

export interface Lease {
  readonly worker: string;
  readonly token: FencingToken;
  /** Names its record (leaseRecords.ts): the id of the event that began or renewed it. */
  readonly id: string;
}

export const noAttempts: Attempts = { attempt: 0, failures: 0, retriedForMs: 0 };

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

/** The lease that `worker` holds, or null. */
export const leaseOf = ({ lease }: Attempts, worker: string): Lease | null => (lease?.worker === worker ? lease : null);

/** Whether the attempt with that number is running; outcomes of other attempts are late. */
export const isUnderWay = (attempts: Attempts, attempt: number): boolean =>
  attempts.attempt === attempt && attempts.lease !== undefined;

/** An event of the task's stream that begins, prolongs or ends an attempt. */
interface LeaseEvent<Data> {
  readonly id: string;
  readonly data: Data;
  readonly revision: bigint;
  readonly metadata: { readonly at: string };
}

export const attemptStarted = (
  { attempt: _, pause: __, vanished: before = 0, ...attempts }: Attempts,
  { id, data: { attempt, worker }, revision, metadata: { at } }: LeaseEvent<{ attempt: number; worker: string }>,
): Attempts => {
  const { lease } = attempts;
  // A worker that goes on after its own lease has not died.
  const vanished = lease === undefined ? 0 : before + Number(lease.worker !== worker);
  return {
    ...attempts,
    attempt,
    firstAt: attempts.firstAt ?? at,
    startedAt: at,
    ...(vanished > 0 && { vanished }),
    lease: { worker, token: revision, id },
  };
};

export const leaseRenewed = (attempts: Attempts, { id, revision }: LeaseEvent<unknown>): Attempts =>
  attempts.lease === undefined ? attempts : { ...attempts, lease: { ...attempts.lease, token: revision, id } };

export const attemptFailed = (
  { lease: _, pause: __, ...attempts }: Attempts,
  { data: { nextAttemptAt }, revision, metadata: { at } }: LeaseEvent<{ nextAttemptAt?: string }>,
): Attempts => {
  const failed = { ...attempts, failures: attempts.failures + 1, retriedForMs: retriedForMs(attempts, at) };
  if (nextAttemptAt === undefined) return failed;
  const pause = { until: nextAttemptAt, ms: Date.parse(nextAttemptAt) - Date.parse(at), token: revision };
  return { ...failed, retriedForMs: failed.retriedForMs + Math.max(0, pause.ms), pause };
};

/** `retriedForMs` once the attempt under way fails at `at`. */
const retriedForMs = ({ failures, retriedForMs: before, startedAt = '' }: Attempts, at: string): number =>
  failures === 0 ? 0 : before + Math.max(0, Date.parse(at) - Date.parse(startedAt) || 0);

type Decided<Command> = Command & { readonly attempt: number; readonly at: string };

/** The data that the lease's events have in common. */
interface Renewal {
  readonly attempt: number;
  readonly leaseUntil: string;
}
interface Start extends Renewal {
  readonly worker: string;
}
interface Failure {
  readonly attempt: number;
  readonly error: string;
  readonly transient: boolean;
  readonly nextAttemptAt?: string;
}

/** The lease that an attempt begins with. */
export const startOf = ({ attempt, worker, at }: { attempt: number; worker: string; at: string }): Start => ({
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
  started: (data: Start) => readonly Event[],
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
  renewed: (data: Renewal) => readonly Event[],
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
  failed: (data: Failure, isGivenUp: boolean) => readonly Event[],
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
    readonly started: (data: Start) => readonly Event[];
    readonly renewed: (data: Renewal) => readonly Event[];
    readonly failed: (data: Failure, isGivenUp: boolean) => readonly Event[];
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
