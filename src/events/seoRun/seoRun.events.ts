import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, leaseRenewal, leaseStart, Time } from '../fields.js';

const ofRun = { dueAt: Time };

/**
 * Stream `seo-run-<time>`: one due time of the schedule, at which every website is to be scanned.
 */
export const seoRunEvents = {
  SeoRunDue: event(Type.Object(ofRun)),
  /** The worker that appended it requests the scans. */
  SeoRunStarted: event(Type.Object({ ...ofRun, ...leaseStart })),
  /** `after`: the last website that was dealt with; the next attempt continues after it. */
  SeoRunLeaseRenewed: event(Type.Object({ ...ofRun, ...leaseRenewal, after: Type.Optional(Type.String()) })),
  /** A scan was requested for every website. */
  SeoRunCompleted: event(Type.Object({ ...ofRun, attempt: Attempt })),
};

export type SeoRunEvent = EventOf<typeof seoRunEvents>;
