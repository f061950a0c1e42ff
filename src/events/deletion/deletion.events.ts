import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';

/** What is removed after a website was deleted, in this order: its slugs are free once nothing is left. */
export const deletionSteps = ['access', 'services', 'project', 'repository', 'slugs'] as const;
const Step = Type.Enum([...deletionSteps]);
export type DeletionStep = Static<typeof Step>;

const ofWebsite = { websiteId: Type.String() };
const ofAttempt = { ...ofWebsite, attempt: Attempt };

/** Stream `deletion-<websiteId>`: the removal of what a deleted website has left. */
export const deletionEvents = {
  DeletionStarted: event(Type.Object({ ...ofWebsite, ...leaseStart })),
  DeletionLeaseRenewed: event(Type.Object({ ...ofWebsite, ...leaseRenewal })),
  /** `removed`: how many things were there and are gone; 0 for what was to be kept. */
  DeletionStepDone: event(Type.Object({ ...ofAttempt, step: Step, removed: Type.Integer({ minimum: 0 }) })),
  /** After the last attempt the slugs are freed all the same. */
  DeletionFailed: event(Type.Object({ ...ofWebsite, ...attemptFailure })),
};

export type DeletionEvent = EventOf<typeof deletionEvents>;
