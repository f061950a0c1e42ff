import { Type, type Static, type TObject } from 'typebox';

/** ISO 8601 UTC. */
export const Time = Type.String({ format: 'date-time' });

/** The number of an attempt at a task; the first one is 1. */
export const Attempt = Type.Integer({ minimum: 1 });

/** Of an event that begins an attempt: the worker that appended it holds the lease until `leaseUntil`. */
export const leaseStart = { attempt: Attempt, worker: Type.String(), leaseUntil: Time };
export type LeaseStart = Static<TObject<typeof leaseStart>>;

/** Of one that prolongs its lease. */
export const leaseRenewal = { attempt: Attempt, leaseUntil: Time };
export type LeaseRenewal = Static<TObject<typeof leaseRenewal>>;

/** Of one that says what it failed with. Without `nextAttemptAt` there is no further attempt. */
export const attemptFailure = {
  attempt: Attempt,
  error: Type.String(),
  transient: Type.Boolean(),
  nextAttemptAt: Type.Optional(Time),
};
export type AttemptFailure = Static<TObject<typeof attemptFailure>>;
