import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** What is removed after a website was deleted, in this order: its slugs are free once nothing is left. */
export const deletionSteps = ['access', 'services', 'project', 'repository', 'slugs'] as const;
const Step = Type.Enum([...deletionSteps]);
export type DeletionStep = Static<typeof Step>;

const Time = Type.String({ format: 'date-time' });
const ofAttempt = { websiteId: Type.String(), attempt: Type.Integer({ minimum: 1 }) };

/** Stream `deletion-<websiteId>`: the removal of what a deleted website has left. */
export const deletionEvents = {
  /** The worker that appended it holds the lease until `leaseUntil`. */
  DeletionStarted: event(Type.Object({ ...ofAttempt, worker: Type.String(), leaseUntil: Time })),
  DeletionLeaseRenewed: event(Type.Object({ ...ofAttempt, leaseUntil: Time })),
  /** `removed`: how many things were there and are gone; 0 for what was to be kept. */
  DeletionStepDone: event(Type.Object({ ...ofAttempt, step: Step, removed: Type.Integer({ minimum: 0 }) })),
  /** Without `nextAttemptAt` it is given up, and the slugs are freed all the same. */
  DeletionFailed: event(
    Type.Object({ ...ofAttempt, error: Type.String(), transient: Type.Boolean(), nextAttemptAt: Type.Optional(Time) }),
  ),
};

export type DeletionEvent = EventOf<typeof deletionEvents>;
