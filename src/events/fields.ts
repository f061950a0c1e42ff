import { Type, type Static, type TObject } from 'typebox';

/** ISO 8601 UTC. */
export const Time = Type.String({ format: 'date-time' });

/** The number of an attempt at a task; the first one is 1. */
export const Attempt = Type.Integer({ minimum: 1 });

const leaseFields = {
  /** The worker holds the lease until then, or longer when it renews it. */
  leaseUntil: Time,
};

/** Of an event that begins an attempt, which the worker has appended. */
export const leaseStart = { attempt: Attempt, worker: Type.String(), ...leaseFields };
export type LeaseStart = Static<TObject<typeof leaseStart>>;

/** Of one that renews its lease. */
export const leaseRenewal = { attempt: Attempt, ...leaseFields };
export type LeaseRenewal = Static<TObject<typeof leaseRenewal>>;

/** Of one that says what it failed with. */
export const attemptFailure = {
  attempt: Attempt,
  error: Type.String(),
  transient: Type.Boolean(),
  /** Absent: there is no further attempt. */
  nextAttemptAt: Type.Optional(Time),
};
export type AttemptFailure = Static<TObject<typeof attemptFailure>>;
