import type { Engine } from '../../engine.js';
import type { AccessEvent } from '../../events/access/access.events.js';
import { accessFold, type InvitationState } from '../../events/access/access.state.js';
import { accessStream, keyOfInvitation } from '../../events/access/access.stream.js';
import type { EventMetadata, Recorded } from '../../events/envelope.js';
import { invitationMailStream } from '../../events/invitationMail/invitationMail.stream.js';
import type { EmailSender } from '../../integrations/email/port.js';
import { recipientOf } from '../../events/client/client.directory.js';
import { isoTime } from '../../platform/clock.js';
import type { MailLook } from '../../platform/mail/composeMail.js';
import type { Language } from '../../platform/texts/texts.js';
import { hasExpired } from '../../platform/times.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import type { HeldLease } from '../heldLease.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure, withoutAddress } from '../taskFault.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { composeInvitationMail } from './invitationMail.js';
import {
  invitationMailFold,
  invitationMailProcess,
  mailOf,
  type InvitationMailState,
  type MailName,
  type MailOutcome,
  type MailState,
} from './invitationMail.process.js';

type Invited = Recorded<Extract<AccessEvent, { type: 'InvitationIssued' | 'InvitationRenewed' }>>;

interface OpenMail extends MailState {
  /** Null when the mail has no recipient any more. */
  readonly recipient: Recipient | null;
}

interface Recipient {
  readonly invitation: InvitationState;
  readonly address: string;
  /** The address as events hold it. */
  readonly person: string;
  readonly websiteName: string;
}

const TIMEOUT_MS = 60_000;

/**
 * Sends invitation mails, one for each event that asks for one (specification, "E-mail
 * notifications"). Any number of these may run on the same stores.
 * @param parts `baseUrl`: the public base address, without a trailing slash; `languageOf`: what the
 *   person with an address reads
 */
export const createInvitationMailWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  email: EmailSender;
  baseUrl: () => string;
  look: MailLook;
  languageOf: (address: string) => Promise<Language>;
}): Worker => {
  const { engine, createReactor, reader, email, baseUrl, look, languageOf } = parts;
  const { clock, personal } = engine;
  const worker = engine.ids.commandId();
  const contextOf = createContextOf(engine, 'invitationMail');

  /**
   * The invitation and the name of its website, if the invitation can still be accepted and the
   * recipient was not erased.
   */
  const findRecipient = async ({ websiteId, invitationId }: MailName): Promise<Recipient | null> => {
    const key = keyOfInvitation(invitationId);
    const invitation = key === null ? undefined : (await engine.state(accessFold, key)).state.invitations.get(invitationId);
    if (key === null || invitation?.stage !== 'pending' || hasExpired(invitation.expiresAt, isoTime(clock.now()))) return null;
    const person = await recipientOf(engine, key.clientId, invitation.email);
    const address = await personal.decrypt(person);
    const { document: website } = await reader.read(websiteProjection, websiteId);
    return website === null || address === null ? null : { invitation, address, person, websiteName: website.name };
  };

  const send = async ({ eventId, invitationId }: MailName, recipient: Recipient, lease: HeldLease): Promise<void> => {
    const { invitation, address, person, websiteName } = recipient;
    const link = `${baseUrl()}/app/invitations/${invitationId}`;
    const { subject, html, text } = await composeInvitationMail(
      { invitation, websiteName, link },
      await languageOf(address),
      look,
    );
    lease.assertHeld();
    await email.send({ id: eventId, to: address, person, subject, html, text });
    // An erasure destroys the key before it searches for mails: two concurrent ones see each other.
    if (!(await personal.isCurrent(person))) await email.forget(address, person);
  };

  const mailTask = (mail: MailName, metadata: EventMetadata): LeasedTask<OpenMail, MailOutcome> => {
    const { eventId } = mail;
    const logger = engine.logger.child({ worker: 'invitationMail', ...mail });
    const openIn = (state: InvitationMailState): MailState | null => {
      const found = mailOf(state, eventId);
      return found.stage === 'open' ? found : null;
    };
    return {
      worker,
      logger: () => logger,
      load: async () => {
        const open = openIn((await engine.state(invitationMailFold, mail)).state);
        return open === null ? null : { ...open, recipient: await findRecipient(mail) };
      },
      handle: async (command, { recipient }) => {
        const context = contextOf({ id: eventId, metadata });
        const open = openIn((await engine.handle(invitationMailProcess, { ...mail, ...command }, context)).state);
        return open === null ? null : { ...open, recipient };
      },
      timeoutMs: () => TIMEOUT_MS,
      execute: async ({ recipient }, lease) => {
        if (recipient === null) return { type: 'RecordDropped', reason: 'The invitation was no longer pending' };
        try {
          await send(mail, recipient, lease);
        } catch (error) {
          throw withoutAddress(error, recipient.address);
        }
        return { type: 'RecordSent' };
      },
      failure: { message: 'an invitation mail could not be sent', outcome: recordFailure },
    };
  };

  const write = (mail: MailName, metadata: EventMetadata, context: ReactionContext): Promise<void> =>
    runLeasedTask(engine, context, mailTask(mail, metadata));

  const writeToInvited = async ({ id: eventId, data, metadata }: Invited, context: ReactionContext): Promise<void> => {
    const { websiteId, invitationId, sendMail } = data;
    if (sendMail) await write({ websiteId, invitationId, eventId }, metadata, context);
  };

  return createReactor({
    name: 'invitationMail',
    streams: [accessStream, invitationMailStream],
    key: ({ data }) => data.invitationId,
    on: {
      InvitationIssued: writeToInvited,
      InvitationRenewed: writeToInvited,
      InvitationMailReopened: ({ data, metadata }, context) => write(data, metadata, context),
    },
  });
};
