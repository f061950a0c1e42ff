import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { InvitationMailEvent } from '../../events/invitationMail/invitationMail.events.js';
import {
  failed,
  isUnderWay,
  leaseFrom,
  mayStart,
  noAttempts,
  renewed,
  retryAt,
  started,
  type Attempts,
  type Fault,
  type Token,
} from '../attempts.js';
import { invitationMailStream } from '../../events/invitationMail/invitationMail.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** The mails of one invitation, by the event that asked for each. */
export interface InvitationMailState {
  readonly mails: ReadonlyMap<string, MailState>;
}

export interface MailState {
  readonly stage: 'open' | 'sent' | 'dropped' | 'parked';
  readonly attempts: Attempts;
}

export interface MailName {
  readonly websiteId: string;
  readonly invitationId: string;
  readonly eventId: string;
}

/** Outcomes that come late, twice, or from a worker whose attempt is no longer the current one change nothing. */
export type InvitationMailCommand = AnyCommand &
  MailName &
  (
    | ({ readonly attempt: number } & MailOutcome)
    /** A parked mail is tried anew. */
    | { readonly type: 'ReopenMail' }
  );

/** What a worker says of an attempt. */
export type MailOutcome =
  | { readonly type: 'StartMail'; readonly worker: string; readonly waitedOut?: Token | undefined }
  | { readonly type: 'RenewLease'; readonly lease: Token }
  | { readonly type: 'RecordSent' }
  | { readonly type: 'RecordDropped'; readonly reason: string }
  /** `jitter`: a fraction in [0, 1). */
  | { readonly type: 'RecordFailure'; readonly fault: Fault; readonly jitter: number };

const unsent: MailState = { stage: 'open', attempts: noAttempts };

export const mailOf = ({ mails }: InvitationMailState, eventId: string): MailState => mails.get(eventId) ?? unsent;

const evolveMail = (mail: MailState, event: Recorded<InvitationMailEvent>): MailState => {
  switch (event.type) {
    case 'InvitationMailStarted':
      return { ...mail, attempts: started(mail.attempts, event) };
    case 'InvitationMailLeaseRenewed':
      return { ...mail, attempts: renewed(mail.attempts, event) };
    case 'InvitationMailSent':
      return { ...mail, stage: 'sent' };
    case 'InvitationMailDropped':
      return { ...mail, stage: 'dropped' };
    case 'InvitationMailFailed':
      return { ...mail, attempts: failed(mail.attempts, event) };
    case 'InvitationMailParked':
      return { ...mail, stage: 'parked' };
    case 'InvitationMailReopened':
      return { stage: 'open', attempts: { ...noAttempts, attempt: mail.attempts.attempt } };
  }
};

const evolve = (state: InvitationMailState, event: Recorded<InvitationMailEvent>): InvitationMailState => {
  const { eventId } = event.data;
  return { mails: new Map(state.mails).set(eventId, evolveMail(mailOf(state, eventId), event)) };
};

const decide = (command: InvitationMailCommand, state: InvitationMailState): readonly InvitationMailEvent[] => {
  const { websiteId, invitationId, eventId, at } = command;
  const mail = { websiteId, invitationId, eventId };
  const { stage, attempts } = mailOf(state, eventId);
  if (command.type === 'ReopenMail') return stage === 'parked' ? [{ type: 'InvitationMailReopened', data: mail }] : [];
  if (stage !== 'open') return [];
  const { attempt } = command;
  if (command.type === 'StartMail') {
    if (!mayStart(attempts, command)) return [];
    return [{ type: 'InvitationMailStarted', data: { ...mail, attempt, worker: command.worker, leaseUntil: leaseFrom(at) } }];
  }
  if (!isUnderWay(attempts, attempt)) return [];
  switch (command.type) {
    case 'RenewLease':
      if (attempts.lease.token !== command.lease) return [];
      return [{ type: 'InvitationMailLeaseRenewed', data: { ...mail, attempt, leaseUntil: leaseFrom(at) } }];
    case 'RecordSent':
      return [{ type: 'InvitationMailSent', data: { ...mail, attempt } }];
    case 'RecordDropped':
      return [{ type: 'InvitationMailDropped', data: { ...mail, attempt, reason: command.reason } }];
    case 'RecordFailure': {
      const { error, transient } = command.fault;
      const nextAttemptAt = retryAt(attempts, command.fault, at, command.jitter);
      const again = nextAttemptAt === undefined ? {} : { nextAttemptAt };
      const failure: InvitationMailEvent = {
        type: 'InvitationMailFailed',
        data: { ...mail, attempt, error, transient, ...again },
      };
      if (nextAttemptAt !== undefined) return [failure];
      return [failure, { type: 'InvitationMailParked', data: { ...mail, reason: error } }];
    }
    default:
      return command satisfies never;
  }
};

export const invitationMailFold: StreamFold<InvitationMailState, InvitationMailEvent, { readonly invitationId: string }> = {
  name: 'invitationMail',
  stream: invitationMailStream,
  initialState: { mails: new Map() },
  evolve,
};

/** Stream `invitation-mail-<invitationId>`: one mail for each event that asks for one. */
export const invitationMailProcess: Decider<InvitationMailState, InvitationMailCommand, InvitationMailEvent> = {
  ...invitationMailFold,
  decide,
};
