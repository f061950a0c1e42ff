import { addressChangeKey, viewAddressChange } from '../../commands/client/addressChange.handlers.js';
import type { Engine } from '../../engine.js';
import { accessFold, linkRole } from '../../events/access/access.state.js';
import { accessStream } from '../../events/access/access.stream.js';
import { recipientOf } from '../../events/client/client.directory.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientStream } from '../../events/client/client.stream.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { redactAddress, type EmailSender } from '../../integrations/email/port.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Brand } from '../../platform/brand.js';
import { readClient } from '../../projections/client/client.queries.js';
import { clientProjection } from '../../projections/client/client.projection.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { faultOf, recordFailure, runLeasedTask, type LeasedTask } from '../leasedTask.js';
import type { CreateReactor, ReactionContext } from '../reactions.js';
import type { Worker } from '../worker.js';
import { composeNotice, type Notice } from './noticeMail.js';
import { noticeMailFold, noticeMailProcess, type NoticeMailState, type NoticeOutcome } from './noticeMail.process.js';

/** A notice that is still to be given. */
interface Addressed extends Notice {
  readonly to: string;
  /** Absent for an admin, whom settings name. */
  readonly client?: {
    readonly id: string;
    /** The address as events hold it. */
    readonly person: string;
  };
}

interface OpenNotice extends NoticeMailState {
  /** Null when it is no longer to be given. */
  readonly notice: Addressed | null;
}

const actor: Actor = { subject: 'noticeMail', role: 'system', via: 'worker' };
const TIMEOUT_MS = 60_000;

/**
 * Sends the mails that tell people of an event, one to each recipient. Any number of these may run
 * on the same stores.
 * @param parts `baseUrl`: the public base address, without a trailing slash
 */
export const createNoticeMailWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  email: EmailSender;
  brand: Brand;
  adminEmails: readonly string[];
  baseUrl: () => string;
}): Worker => {
  const { engine, createReactor, reader, email, brand, adminEmails, baseUrl } = parts;
  const { personal } = engine;
  const worker = engine.ids.commandId();

  const websiteName = async (websiteId: string): Promise<string | null> =>
    (await reader.read(websiteProjection, websiteId)).document?.name ?? null;

  const send = async (noticeId: string, { to, client, ...notice }: Addressed): Promise<void> => {
    try {
      await email.send({
        id: noticeId,
        to,
        ...(client !== undefined && { person: client.person }),
        ...composeNotice(notice, brand),
      });
    } catch (error) {
      const { error: words, transient, retryAfterMs } = faultOf(error);
      const cause = new Error(redactAddress(to, String(error)));
      throw new ProviderFault({ provider: 'email', message: redactAddress(to, words), transient, retryAfterMs, cause });
    }
    if (client === undefined) return;
    // An erasure is decided before it searches for mails: two concurrent ones see each other.
    const { state } = await engine.state(clientFold, { clientId: client.id });
    if (state.stage === 'erased') await email.forget(to, client.person);
  };

  const task = (
    noticeId: string,
    event: Recorded,
    find: () => Promise<Addressed | null>,
  ): LeasedTask<OpenNotice, NoticeOutcome> => {
    const { requestId, correlationId } = event.metadata;
    const logger = engine.logger.child({ worker: 'noticeMail', noticeId });
    return {
      worker,
      logger: () => logger,
      load: async () => {
        const { state } = await engine.state(noticeMailFold, { noticeId });
        return state.stage === 'open' ? { ...state, notice: await find() } : null;
      },
      handle: async (command, { notice }) => {
        const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: event.id };
        const { state } = await engine.handle(noticeMailProcess, { noticeId, ...command }, context);
        return state.stage === 'open' ? { ...state, notice } : null;
      },
      timeoutMs: () => TIMEOUT_MS,
      execute: async ({ notice }, lease) => {
        if (notice === null) return { type: 'RecordDropped', reason: 'It was no longer so' };
        lease.assertHeld();
        await send(noticeId, notice);
        return { type: 'RecordSent' };
      },
      failure: { message: 'a notice could not be mailed', outcome: recordFailure },
    };
  };

  const give = (event: Recorded, recipient: string, context: ReactionContext, find: () => Promise<Addressed | null>) =>
    runLeasedTask(engine, context, task(`${event.id}-${recipient}`, event, find));

  return createReactor({
    name: 'noticeMail',
    streams: [accessStream, clientStream],
    on: {
      ClientLinkNoticeRequested: async (event, context) => {
        const { websiteId, clientId } = event.data;
        await give(event, 'client', context, async () => {
          const { state } = await engine.state(accessFold, { websiteId, clientId });
          const [name, found] = [await websiteName(websiteId), await readClient(reader, clientId)];
          const { document } = await reader.read(clientProjection, clientId);
          const role = linkRole(state);
          if (name === null || found === null || document === null || role === undefined) return null;
          const can = role === 'editor' ? 'see how it is coming along and edit its content' : 'see how it is coming along';
          return {
            to: found.client.email,
            client: { id: clientId, person: document.email },
            heading: `You have access to ${name}`,
            paragraphs: [`${brand.name} has given you access to the website ${name}: you can ${can}.`],
            action: { words: 'Go to your websites', link: `${baseUrl()}/app/` },
          };
        });
      },

      ClientEmailChangeRequested: async (event, context) => {
        const { clientId, changeId, email: person } = event.data;
        await give(event, 'client', context, async () => {
          const change = await viewAddressChange(engine, changeId);
          if (change.status !== 'pending') return null;
          const key = addressChangeKey(engine, changeId);
          return {
            to: change.address,
            client: { id: clientId, person },
            heading: 'Confirm your new address',
            paragraphs: [
              `${brand.name} is about to change your address to this one. Once you confirm it, you sign in with it, and mails come here.`,
              `You can confirm it until ${day(change.expiresAt)}. If you did not expect this mail, you need not do anything.`,
            ],
            action: { words: 'Confirm the address', link: `${baseUrl()}/app/address-changes/${changeId}?key=${key}` },
          };
        });
      },

      ClientEmailChanged: async (event, context) => {
        const { clientId, formerEmail: person } = event.data;
        await give(event, 'client', context, async () => {
          const { state } = await engine.state(clientFold, { clientId });
          const to = await personal.decrypt(person);
          if (state.stage !== 'registered' || to === null) return null;
          return {
            to,
            client: { id: clientId, person },
            heading: `Your address at ${brand.name} has changed`,
            paragraphs: [
              'Another address was confirmed in place of this one, with which you no longer sign in.',
              `If you did not ask for this, turn to ${brand.name} at once.`,
            ],
          };
        });
      },

      InvitationRenewalRequested: async (event, context) => {
        const { websiteId, clientId, invitationId } = event.data;
        for (const [index, to] of adminEmails.entries()) {
          await give(event, `admin-${String(index)}`, context, async () => {
            const { state } = await engine.state(accessFold, { websiteId, clientId });
            const invitation = state.invitations.get(invitationId);
            const name = await websiteName(websiteId);
            const address =
              invitation === undefined ? null : await personal.decrypt(await recipientOf(engine, clientId, invitation.email));
            if (invitation?.stage !== 'pending' || name === null || address === null) return null;
            return {
              to,
              heading: `A new invitation to ${name} is asked for`,
              paragraphs: [
                `The invitation of ${address} to the website ${name} has expired, and they ask for a new one.`,
                invitation.kind === 'ownership_transfer'
                  ? `Offer the website again: POST /websites/${websiteId}/transfers.`
                  : `Send it again: POST /websites/${websiteId}/client-invitations/${invitationId}/resend.`,
              ],
            };
          });
        }
      },
    },
  });
};

/** As people write it, such as 1 December 2026. */
const day = (time: string): string =>
  new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
