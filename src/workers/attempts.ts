/**
 * Attempts at something that only one worker may do at a time, folded from a process's stream: the lease of the one that
 * runs, how often it failed, when the next may begin. Pure: times arrive from the command or the event.
 *
 * No two clocks are ever compared. A worker that finds a lease or a pause waits for its length on its own clock, and then names
 * what it waited out; if that has changed meanwhile (a renewed lease), its start changes nothing.
 */
export interface Attempts {
  /** Number of the last attempt begun; 0 before the first. */
  readonly attempt: number;
  /** Attempts that reported a transient fault. One whose worker died reported nothing and is not counted. */
  readonly failures: number;
  /** When the first attempt began, ISO 8601. */
  readonly firstAt?: string;
  /** Present while an attempt runs. */
  readonly lease?: { readonly worker: string; readonly token: Token };
  /** Present after a transient fault: until when, ISO 8601, and how long that was at the time, in milliseconds. */
  readonly pause?: { readonly until: string; readonly ms: number; readonly token: Token };
}

/** Names a lease or a pause: the revision of the event that made or renewed it. */
export type Token = bigint;

export const noAttempts: Attempts = { attempt: 0, failures: 0 };

const MAX_FAILURES = 5;
/** How long a worker that says nothing keeps its lease; one that works renews it in time. */
export const LEASE_MS = 6_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

export const leaseFrom = (at: string): string => later(at, LEASE_MS);

/** What keeps a worker from beginning the next attempt. */
export interface Obstacle {
  readonly token: Token;
  readonly waitMs: number;
}

/**
 * A lease of its own keeps no worker: it asks only when it is not at work on this, so it is one that it failed to hand back.
 * @param now the worker's clock, in milliseconds since the epoch: a pause that it finds begun is waited for only in part
 */
export const obstacleFor = ({ lease, pause }: Attempts, worker: string, now: number): Obstacle | null => {
  if (lease !== undefined) return lease.worker === worker ? null : { token: lease.token, waitMs: LEASE_MS };
  if (pause === undefined) return null;
  return { token: pause.token, waitMs: Math.max(0, Math.min(pause.ms, Date.parse(pause.until) - now)) };
};

/** The lease that `worker` holds, or null. */
export const leaseOf = ({ lease }: Attempts, worker: string): Token | null => (lease?.worker === worker ? lease.token : null);

/** Whether `worker`, which has `waitedOut` the obstacle of that token, may begin the attempt of that number: the next one, and no other. */
export const mayStart = (
  { attempt, lease, pause }: Attempts,
  wish: { readonly attempt: number; readonly worker: string; readonly waitedOut?: Token | undefined },
): boolean => {
  const { worker, waitedOut } = wish;
  if (wish.attempt !== attempt + 1) return false;
  if (lease !== undefined) return lease.worker === worker || lease.token === waitedOut;
  return pause === undefined || pause.token === waitedOut;
};

/** Whether the attempt of that number runs: outcomes of any other come late. */
export const isUnderWay = (
  attempts: Attempts,
  attempt: number,
): attempts is Attempts & { readonly lease: NonNullable<Attempts['lease']> } =>
  attempts.attempt === attempt && attempts.lease !== undefined;

/** An event of a process's stream that begins, prolongs or ends an attempt. */
interface Step<Data> {
  readonly data: Data;
  readonly revision: bigint;
  readonly metadata: { readonly at: string };
}

export const started = (
  attempts: Attempts,
  { data: { attempt, worker }, revision, metadata: { at } }: Step<{ attempt: number; worker: string }>,
): Attempts => ({
  attempt,
  failures: attempts.failures,
  firstAt: attempts.firstAt ?? at,
  lease: { worker, token: revision },
});

export const renewed = (attempts: Attempts, { revision }: Step<unknown>): Attempts =>
  attempts.lease === undefined ? attempts : { ...attempts, lease: { ...attempts.lease, token: revision } };

export const failed = (
  { lease: _, pause: __, ...attempts }: Attempts,
  { data: { nextAttemptAt }, revision, metadata: { at } }: Step<{ nextAttemptAt?: string }>,
): Attempts => {
  const failures = attempts.failures + 1;
  if (nextAttemptAt === undefined) return { ...attempts, failures };
  const pause = { until: nextAttemptAt, ms: Date.parse(nextAttemptAt) - Date.parse(at), token: revision };
  return { ...attempts, failures, pause };
};

/** What went wrong in an attempt. */
export interface Fault {
  /** In words for people. */
  readonly error: string;
  readonly transient: boolean;
  /** How long the other side asks to wait, in milliseconds; 0 when it does not. */
  readonly retryAfterMs: number;
}

/**
 * When to try again after `fault`, ISO 8601: exponential backoff with jitter (a fraction in [0, 1)), never sooner than the other
 * side asks. `undefined` when it is not worth another attempt: a permanent fault, or the fifth transient one.
 */
export const retryAt = (attempts: Attempts, fault: Fault, at: string, jitter: number): string | undefined => {
  const failures = attempts.failures + 1;
  if (!fault.transient || failures >= MAX_FAILURES) return undefined;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + jitter / 2);
  // A little later than asked, each by a different bit: everybody who was turned away was told the same.
  return later(at, Math.round(Math.max(pause, fault.retryAfterMs * (1 + jitter / 10))));
};
