import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';

/** `noticeId`: the event that asked for the mail, and which of its mails it is. No address stands here. */
const ofMail = { noticeId: Type.String() };

/** Stream `notice-mail-<noticeId>`. */
export const noticeMailEvents = {
  NoticeMailStarted: event(Type.Object({ ...ofMail, ...leaseStart })),
  NoticeMailLeaseRenewed: event(Type.Object({ ...ofMail, ...leaseRenewal })),
  NoticeMailSent: event(Type.Object({ ...ofMail, attempt: Attempt })),
  /** What it tells was no longer so, or nobody is left to tell. */
  NoticeMailDropped: event(Type.Object({ ...ofMail, attempt: Attempt, reason: Type.String() })),
  NoticeMailFailed: event(Type.Object({ ...ofMail, ...attemptFailure })),
};

export type NoticeMailEvent = EventOf<typeof noticeMailEvents>;
