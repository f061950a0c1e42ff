import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { InvitationMailEvent } from '../../events/invitationMail/invitationMail.events.js';
import { invitationMailStream } from '../../events/invitationMail/invitationMail.stream.js';
import { withEntry, type StreamFold } from '../../events/fold.js';
import {
  attemptFailed,
  attemptStarted,
  isUnderWay,
  leaseRenewed,
  noAttempts,
  noAttemptsSince,
  type Attempts,
} from '../../events/attempts.js';
import { decideLease, retryFor, type LeaseCommand } from '../lease.js';

/** The mails of one invitation, by the event that asked for each. */
export interface InvitationMailState {
  readonly mails: ReadonlyMap<string, MailState>;
}

export interface MailState {
  readonly stage: 'open' | 'sent' | 'dropped' | 'parked';
  readonly attempts: Attempts;
  /** When the mail server took it, ISO 8601 UTC. */
  readonly sentAt?: string;
}

export interface MailName {
  readonly websiteId: string;
  readonly invitationId: string;
  readonly eventId: string;
}

/**
 * Outcomes that come late, twice, or from a worker whose attempt is no longer the current one
 * change nothing.
 */
export type InvitationMailCommand = AnyCommand &
  MailName &
  (
    | ({ readonly attempt: number } & MailOutcome)
    /** A parked mail is tried again. */
    | { readonly type: 'ReopenMail' }
  );

/** What a worker reports about an attempt. */
export type MailOutcome =
  LeaseCommand | { readonly type: 'RecordSent' } | { readonly type: 'RecordDropped'; readonly reason: string };

type Command<Type extends InvitationMailCommand['type']> = Extract<InvitationMailCommand, { type: Type }>;

const unsent: MailState = { stage: 'open', attempts: noAttempts };

export const mailOf = ({ mails }: InvitationMailState, eventId: string): MailState => mails.get(eventId) ?? unsent;

/** When a mail was last sent for the invitation, ISO 8601 UTC; absent: none was. */
export const lastSentAt = ({ mails }: InvitationMailState): string | undefined =>
  [...mails.values()]
    .flatMap(({ sentAt }) => (sentAt === undefined ? [] : [sentAt]))
    .sort()
    .at(-1);

const evolveMail = (mail: MailState, event: Recorded<InvitationMailEvent>): MailState => {
  switch (event.type) {
    case 'InvitationMailStarted':
      return { ...mail, attempts: attemptStarted(mail.attempts, event) };
    case 'InvitationMailLeaseRenewed':
      return { ...mail, attempts: leaseRenewed(mail.attempts, event) };
    case 'InvitationMailSent':
      return { ...mail, stage: 'sent', sentAt: event.metadata.at };
    case 'InvitationMailDropped':
      return { ...mail, stage: 'dropped' };
    case 'InvitationMailFailed':
      return { ...mail, attempts: attemptFailed(mail.attempts, event) };
    case 'InvitationMailParked':
      return { ...mail, stage: 'parked' };
    case 'InvitationMailReopened':
      return { stage: 'open', attempts: noAttemptsSince(mail.attempts.attempt) };
  }
};

const evolve = (state: InvitationMailState, event: Recorded<InvitationMailEvent>): InvitationMailState => {
  const { eventId } = event.data;
  return { mails: withEntry(state.mails, eventId, evolveMail(mailOf(state, eventId), event)) };
};

const nameOf = ({ websiteId, invitationId, eventId }: MailName): MailName => ({ websiteId, invitationId, eventId });

const recordSent = (command: Command<'RecordSent'>, { attempts }: MailState): readonly InvitationMailEvent[] => {
  const { attempt } = command;
  return isUnderWay(attempts, attempt) ? [{ type: 'InvitationMailSent', data: { ...nameOf(command), attempt } }] : [];
};

const recordDropped = (command: Command<'RecordDropped'>, { attempts }: MailState): readonly InvitationMailEvent[] => {
  const { attempt, reason } = command;
  return isUnderWay(attempts, attempt) ? [{ type: 'InvitationMailDropped', data: { ...nameOf(command), attempt, reason } }] : [];
};

/** A mail server may be away for a day: an invitation must not be lost by it. */
const retry = retryFor(24 * 3_600_000, 15 * 60_000);

const recordLease = (command: Command<LeaseCommand['type']>, { attempts }: MailState): readonly InvitationMailEvent[] => {
  const mail = nameOf(command);
  return decideLease<InvitationMailEvent>(
    attempts,
    command,
    {
      started: (lease) => [{ type: 'InvitationMailStarted', data: { ...mail, ...lease } }],
      renewed: (lease) => [{ type: 'InvitationMailLeaseRenewed', data: { ...mail, ...lease } }],
      failed: (failure, isGivenUp) => [
        { type: 'InvitationMailFailed', data: { ...mail, ...failure } },
        ...(isGivenUp ? [{ type: 'InvitationMailParked', data: { ...mail, reason: failure.error } } as const] : []),
      ],
    },
    retry,
  );
};

const reopen = (command: Command<'ReopenMail'>, { stage }: MailState): readonly InvitationMailEvent[] =>
  stage === 'parked' ? [{ type: 'InvitationMailReopened', data: nameOf(command) }] : [];

const decide = (command: InvitationMailCommand, state: InvitationMailState): readonly InvitationMailEvent[] => {
  const mail = mailOf(state, command.eventId);
  if (command.type === 'ReopenMail') return reopen(command, mail);
  if (mail.stage !== 'open') return [];
  switch (command.type) {
    case 'RecordSent':
      return recordSent(command, mail);
    case 'RecordDropped':
      return recordDropped(command, mail);
    default:
      return recordLease(command, mail);
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
