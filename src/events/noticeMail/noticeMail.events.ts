import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** `noticeId`: the event that asked for the mail, and which of its mails it is. No address stands here. */
const ofMail = { noticeId: Type.String() };
const Time = Type.String({ format: 'date-time' });
const Attempt = Type.Integer({ minimum: 1 });

/** Stream `notice-mail-<noticeId>`. */
export const noticeMailEvents = {
  /** The worker that appended it holds the lease until `leaseUntil`. */
  NoticeMailStarted: event(Type.Object({ ...ofMail, attempt: Attempt, worker: Type.String(), leaseUntil: Time })),
  NoticeMailLeaseRenewed: event(Type.Object({ ...ofMail, attempt: Attempt, leaseUntil: Time })),
  NoticeMailSent: event(Type.Object({ ...ofMail, attempt: Attempt })),
  /** What it tells was no longer so, or nobody is left to tell. */
  NoticeMailDropped: event(Type.Object({ ...ofMail, attempt: Attempt, reason: Type.String() })),
  /** Without `nextAttemptAt` the mail is given up. */
  NoticeMailFailed: event(
    Type.Object({
      ...ofMail,
      attempt: Attempt,
      error: Type.String(),
      transient: Type.Boolean(),
      nextAttemptAt: Type.Optional(Time),
    }),
  ),
};

export type NoticeMailEvent = EventOf<typeof noticeMailEvents>;
