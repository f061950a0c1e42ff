import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** One mail, named by the event that asked for it. The recipient's address is not repeated here. */
const ofMail = { websiteId: Type.String(), invitationId: Type.String(), eventId: Type.String() };
const Time = Type.String({ format: 'date-time' });
const Attempt = Type.Integer({ minimum: 1 });

/** Stream `invitation-mail-<invitationId>`. */
export const invitationMailEvents = {
  /** The worker that appended it holds the lease until `leaseUntil`. */
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
  /**
   * Given up until an operator deals with it (`npm run mails:parked`); resending the invitation
   * asks for another mail.
   */
  InvitationMailParked: event(Type.Object({ ...ofMail, reason: Type.String() })),
  /** An operator has it sent after all. */
  InvitationMailReopened: event(Type.Object(ofMail)),
};

export type InvitationMailEvent = EventOf<typeof invitationMailEvents>;
