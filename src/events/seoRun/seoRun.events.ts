import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const Time = Type.String({ format: 'date-time' });
const Attempt = Type.Integer({ minimum: 1 });
const ofRun = { dueAt: Time };

/** Stream `seo-run-<when it was due>`: what the calendar asked for once, for every website. */
export const seoRunEvents = {
  SeoRunDue: event(Type.Object(ofRun)),
  /** Whoever appended it may ask for scans until `leaseUntil`. */
  SeoRunStarted: event(Type.Object({ ...ofRun, attempt: Attempt, worker: Type.String(), leaseUntil: Time })),
  /** `after`: the last website that was dealt with; the next attempt goes on behind it. */
  SeoRunLeaseRenewed: event(Type.Object({ ...ofRun, attempt: Attempt, leaseUntil: Time, after: Type.Optional(Type.String()) })),
  /** Every website was dealt with: their scans go on by themselves. */
  SeoRunCompleted: event(Type.Object({ ...ofRun, attempt: Attempt })),
};

export type SeoRunEvent = EventOf<typeof seoRunEvents>;
