import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** One mail: the event that asked for it names it. The recipient's address is not repeated here. */
const ofMail = { websiteId: Type.String(), invitationId: Type.String(), eventId: Type.String() };
const Time = Type.String({ format: 'date-time' });
const Attempt = Type.Integer({ minimum: 1 });

/** Stream `invitation-mail-<invitationId>`. */
export const invitationMailEvents = {
  /** Whoever appended it may act until `leaseUntil`. */
  InvitationMailStarted: event(Type.Object({ ...ofMail, attempt: Attempt, worker: Type.String(), leaseUntil: Time })),
  InvitationMailLeaseRenewed: event(Type.Object({ ...ofMail, attempt: Attempt, leaseUntil: Time })),
  InvitationMailSent: event(Type.Object({ ...ofMail, attempt: Attempt })),
  /** The invitation was revoked, accepted or expired before its mail could be sent. */
  InvitationMailDropped: event(Type.Object({ ...ofMail, attempt: Attempt, reason: Type.String() })),
  InvitationMailFailed: event(
    Type.Object({
      ...ofMail,
      attempt: Attempt,
      error: Type.String(),
      transient: Type.Boolean(),
      nextAttemptAt: Type.Optional(Time),
    }),
  ),
  /** Given up, for somebody to look at (`npm run mails:parked`); resending the invitation asks for another mail. */
  InvitationMailParked: event(Type.Object({ ...ofMail, reason: Type.String() })),
  /** Somebody looked, and wants it sent. */
  InvitationMailReopened: event(Type.Object(ofMail)),
};

export type InvitationMailEvent = EventOf<typeof invitationMailEvents>;
