import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';

/** One mail, named by the event that asked for it. The recipient's address is not repeated here. */
const ofMail = { websiteId: Type.String(), invitationId: Type.String(), eventId: Type.String() };

/** Stream `invitation-mail-<invitationId>`. */
export const invitationMailEvents = {
  InvitationMailStarted: event(Type.Object({ ...ofMail, ...leaseStart })),
  InvitationMailLeaseRenewed: event(Type.Object({ ...ofMail, ...leaseRenewal })),
  InvitationMailSent: event(Type.Object({ ...ofMail, attempt: Attempt })),
  /** The invitation was revoked, accepted or expired before its mail could be sent. */
  InvitationMailDropped: event(Type.Object({ ...ofMail, attempt: Attempt, reason: Type.String() })),
  InvitationMailFailed: event(Type.Object({ ...ofMail, ...attemptFailure })),
  /**
   * Given up until an operator deals with it (`npm run mails:parked`); resending the invitation
   * asks for another mail.
   */
  InvitationMailParked: event(Type.Object({ ...ofMail, reason: Type.String() })),
  /** An operator has it sent after all. */
  InvitationMailReopened: event(Type.Object(ofMail)),
};

export type InvitationMailEvent = EventOf<typeof invitationMailEvents>;
