import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { AccessEvent } from '../../events/access/access.events.js';
import type { Actor, EventMetadata, Recorded } from '../../events/envelope.js';
import { type InvitationMailEvent } from '../../events/invitationMail/invitationMail.events.js';
import { redactAddress, type EmailSender } from '../../integrations/email/port.js';
import { isoTime } from '../../platform/clock.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { leaseOf, type Token } from '../attempts.js';
import type { CreateReactor, Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt, type Held } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import { composeInvitationMail } from './invitationMail.js';
import {
  invitationMailFold,
  invitationMailProcess,
  mailOf,
  type MailName,
  type MailOutcome,
  type MailState,
} from './invitationMail.process.js';
import { accessFold, type InvitationState } from '../../events/access/access.state.js';
import type { Reader } from '../../projections/reader.js';

type Asked = Recorded<Extract<AccessEvent, { type: 'InvitationIssued' | 'InvitationRenewed' }>>;
type Reopened = Recorded<Extract<InvitationMailEvent, { type: 'InvitationMailReopened' }>>;

interface Pending {
  readonly invitation: InvitationState;
  readonly address: string;
  readonly websiteName: string;
}

const actor: Actor = { subject: 'invitationMail', role: 'system', via: 'worker' };
const TIMEOUT_MS = 60_000;

/**
 * Writes to everybody who is invited, one mail for each event that asks for one (specification, "E-mail notifications"). Any number of
 * these may run on the same stores.
 * @param parts `baseUrl`: the public base address, without a trailing slash
 */
export const createInvitationMailWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  email: EmailSender;
  baseUrl: () => string;
}): Worker => {
  const { engine, createReactor, reader, email, baseUrl } = parts;
  const { clock, ids, random, personal } = engine;
  const logger = engine.logger.child({ worker: 'invitationMail' });
  const worker = ids.commandId();

  /** The invitation, when it can still be accepted by somebody who is known, and the name of its website. */
  const pending = async (websiteId: string, invitationId: string): Promise<Pending | null> => {
    const { state } = await engine.state(accessFold, { websiteId });
    const invitation = state.invitations.get(invitationId);
    if (invitation?.stage !== 'pending' || invitation.expiresAt <= isoTime(clock.now())) return null;
    const address = await personal.open(invitation.email);
    const { document: website } = await reader.read(websiteProjection, websiteId);
    return website === null || address === null ? null : { invitation, address, websiteName: website.name };
  };

  const send = async (id: string, invitationId: string, to: Pending, held: Held): Promise<void> => {
    const { invitation, address, websiteName } = to;
    const link = `${baseUrl()}/invitations/${invitationId}`;
    const { subject, html, text } = await composeInvitationMail({ invitation, websiteName, link });
    held.confirm();
    await email.send({ id, to: address, person: invitation.email, subject, html, text });
    // An erasure takes the address away before it looks for mails: of two at the same moment one sees the other.
    if (!(await personal.isCurrent(invitation.email))) await email.forget(address, invitation.email);
  };

  /** The mail that one event asks for. */
  const mailFor = (mail: MailName, { requestId, correlationId }: EventMetadata) => {
    const { websiteId, invitationId, eventId } = mail;
    const log = logger.child({ ...mail });

    const tell = async (attempt: number, outcome: MailOutcome): Promise<MailState> => {
      const context: CommandContext = { commandId: ids.commandId(), actor, requestId, correlationId, causationId: eventId };
      return mailOf((await engine.handle(invitationMailProcess, { ...mail, attempt, ...outcome }, context)).state, eventId);
    };

    /** What comes of an attempt under `lease`; null when the lease was lost. */
    const outcomeOf = async (attempt: number, lease: Token): Promise<MailOutcome | null> => {
      const recipient = await pending(websiteId, invitationId);
      if (recipient === null) return { type: 'RecordDropped', reason: 'The invitation was no longer pending' };
      const renew = async (held: Token): Promise<Token | null> =>
        leaseOf((await tell(attempt, { type: 'RenewLease', lease: held })).attempts, worker);
      const onFault = (error: unknown): void => {
        log.warn({ err: error, attempt }, 'the lease could not be renewed');
      };
      const act = (held: Held): Promise<void> => send(eventId, invitationId, recipient, held);
      try {
        await runAttempt({ clock, timeoutMs: TIMEOUT_MS, lease, renew, onFault, act });
        return { type: 'RecordSent' };
      } catch (error) {
        if (error instanceof LeaseLost) return null;
        const anonymous = (text: string): string => redactAddress(recipient.address, text);
        const { error: words, ...fault } = faultOf(error);
        log.warn({ attempt, cause: anonymous(String(error)) }, 'an invitation mail could not be sent');
        return { type: 'RecordFailure', fault: { ...fault, error: anonymous(words) }, jitter: random.fraction() };
      }
    };

    return {
      load: async (): Promise<MailState> => mailOf((await engine.state(invitationMailFold, mail)).state, eventId),
      attempt: async ({ attempts }: MailState, waitedOut: Token | undefined): Promise<void> => {
        const attempt = attempts.attempt + 1;
        const begun = await tell(attempt, { type: 'StartMail', worker, waitedOut });
        const lease = begun.stage === 'open' ? leaseOf(begun.attempts, worker) : null;
        const outcome = lease === null ? null : await outcomeOf(attempt, lease);
        if (outcome !== null) await tell(attempt, outcome);
      },
    };
  };

  const write = async (event: Asked | Reopened, turn: Turn): Promise<void> => {
    if (event.type !== 'InvitationMailReopened' && !event.data.sendMail) return;
    const { websiteId, invitationId } = event.data;
    const eventId = event.type === 'InvitationMailReopened' ? event.data.eventId : event.id;
    const { load, attempt } = mailFor({ websiteId, invitationId, eventId }, event.metadata);
    const look = async (): Promise<MailState | null> => {
      const state = await load();
      return state.stage === 'open' ? state : null;
    };
    await attemptUntilDone({ clock, worker, turn, look, attempt });
  };

  return createReactor({
    name: 'invitationMail',
    filter: {
      streamPrefixes: ['access-', 'invitation-mail-'],
      types: ['InvitationIssued', 'InvitationRenewed', 'InvitationMailReopened'],
    },
    keyOf: ({ data }) => data.invitationId,
    react: (event, turn) => write(event as Asked | Reopened, turn),
  });
};
