/**
 * The lease of a task that only one worker may carry out at a time, folded from the task's stream:
 * who holds it, how often an attempt failed, when the next may begin.
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

/** None since that one. Numbers go on, so that a late outcome is not taken for another attempt's. */
export const noAttemptsSince = (attempt: number): Attempts => ({ ...noAttempts, attempt });

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
export const retriedForMs = ({ failures, retriedForMs: before, startedAt = '' }: Attempts, at: string): number =>
  failures === 0 ? 0 : before + Math.max(0, Date.parse(at) - Date.parse(startedAt) || 0);
