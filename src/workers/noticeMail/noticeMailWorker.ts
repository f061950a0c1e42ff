import { addressChangeKey, viewAddressChange } from '../../commands/client/addressChange.handlers.js';
import type { Engine } from '../../engine.js';
import { accessFold, linkRole } from '../../events/access/access.state.js';
import { accessStream } from '../../events/access/access.stream.js';
import { recipientOf } from '../../events/client/client.directory.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientStream } from '../../events/client/client.stream.js';
import type { Recorded } from '../../events/envelope.js';
import { NO_STREAM } from '../../events/store/eventStore.js';
import type { EmailSender } from '../../integrations/email/port.js';
import { composeMail, type MailContent, type MailLook, type MailRow } from '../../platform/mail/composeMail.js';
import { dayIn, fill, textsOf, type Language } from '../../platform/texts/texts.js';
import { readClient } from '../../projections/client/client.queries.js';
import { clientProjection } from '../../projections/client/client.projection.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure, withoutAddress } from '../taskFault.js';
import type { TaskContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { noticeMailFold, noticeMailProcess, type NoticeMailState, type NoticeOutcome } from './noticeMail.process.js';

/** A notice that is still to be given. */
interface Addressed extends MailContent {
  readonly to: string;
  readonly language: Language;
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

const TIMEOUT_MS = 60_000;

/**
 * Sends the mails that tell people of an event, one to each recipient. Any number of these may run
 * on the same stores.
 * @param parts `languageOf`: what the person with an address reads; `baseUrl`: the public base address,
 *   without a trailing slash
 */
export const createNoticeMailWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  email: EmailSender;
  look: MailLook;
  languageOf: (address: string) => Promise<Language>;
  adminEmails: readonly string[];
  baseUrl: () => string;
}): Worker => {
  const { engine, createReactor, reader, email, look, languageOf, adminEmails, baseUrl } = parts;
  const { personal } = engine;
  const brand = look.brand.name;
  const worker = engine.ids.commandId();
  const contextOf = createContextOf(engine, 'noticeMail');

  const websiteName = async (websiteId: string): Promise<string | null> =>
    (await reader.read(websiteProjection, websiteId)).document?.name ?? null;

  const send = async (noticeId: string, { to, client, language, ...content }: Addressed): Promise<void> => {
    try {
      await email.send({
        id: noticeId,
        to,
        ...(client !== undefined && { person: client.person }),
        ...(await composeMail(content, language, look)),
      });
    } catch (error) {
      throw withoutAddress(error, to);
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
    const logger = engine.logger.child({ worker: 'noticeMail', noticeId });
    return {
      worker,
      logger: () => logger,
      load: async () => {
        const { state } = await engine.state(noticeMailFold, { noticeId });
        return state.stage === 'open' ? { ...state, notice: await find() } : null;
      },
      handle: async (command, { notice }) => {
        const { state } = await engine.handle(noticeMailProcess, { noticeId, ...command }, contextOf(event));
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

  const give = (event: Recorded, recipient: string, context: TaskContext, find: () => Promise<Addressed | null>) =>
    runLeasedTask(engine, context, task(`${event.id}-${recipient}`, event, find));

  /**
   * The admins, and what the mail to each is called, however `ADMIN_EMAILS` orders them. It was called by
   * their place there: where such a mail was begun all go on so, because nobody is to get two.
   */
  const adminRecipients = async ({ id }: Recorded): Promise<readonly { readonly to: string; readonly recipient: string }[]> => {
    const byPlace = adminEmails.map((to, index) => ({ to, recipient: `admin-${String(index)}` }));
    const former = await Promise.all(
      byPlace.map(({ recipient }) => engine.state(noticeMailFold, { noticeId: `${id}-${recipient}` })),
    );
    if (former.some(({ revision }) => revision !== NO_STREAM)) return byPlace;
    return adminEmails.map((to) => ({ to, recipient: `admin-${engine.blindIndex(to)}` }));
  };

  return createReactor({
    name: 'noticeMail',
    streams: [accessStream, clientStream],
    on: {
      ClientLinkNoticeRequested: async (event, context) => {
        const { websiteId, clientId } = event.data;
        await give(event, 'client', context, async () => {
          const { state } = await engine.state(accessFold, { websiteId, clientId });
          const [website, found] = [await websiteName(websiteId), await readClient(reader, clientId)];
          const { document } = await reader.read(clientProjection, clientId);
          const role = linkRole(state);
          if (website === null || found === null || document === null || role === undefined) return null;
          const to = found.client.email;
          const language = await languageOf(to);
          const { linkedMail: words } = textsOf(language);
          return {
            to,
            language,
            client: { id: clientId, person: document.email },
            heading: fill(words.subject, { website }),
            rows: [
              { row: 'text', words: fill(role === 'editor' ? words.editor : words.viewer, { brand, website }) },
              ...button(language, words.action, `${baseUrl()}/app/`),
            ],
          };
        });
      },

      ClientEmailChangeRequested: async (event, context) => {
        const { clientId, changeId, email: person } = event.data;
        await give(event, 'client', context, async () => {
          const change = await viewAddressChange(engine, changeId);
          if (change.status !== 'pending') return null;
          const key = addressChangeKey(engine, changeId);
          const to = change.address;
          const language = await languageOf(to);
          const texts = textsOf(language);
          const { newAddressMail: words } = texts;
          return {
            to,
            language,
            client: { id: clientId, person },
            heading: words.subject,
            rows: [
              { row: 'text', words: fill(words.text, { brand }) },
              ...button(language, words.action, `${baseUrl()}/app/address-changes/${changeId}?key=${key}`),
              { row: 'quiet', words: fill(words.until, { day: dayIn(texts, change.expiresAt) }) },
            ],
          };
        });
      },

      ClientEmailChanged: async (event, context) => {
        const { clientId, formerEmail: person } = event.data;
        await give(event, 'client', context, async () => {
          const { state } = await engine.state(clientFold, { clientId });
          const to = await personal.decrypt(person);
          if (state.stage !== 'registered' || to === null) return null;
          const language = await languageOf(to);
          const { formerAddressMail: words } = textsOf(language);
          return {
            to,
            language,
            client: { id: clientId, person },
            heading: fill(words.subject, { brand }),
            rows: [
              { row: 'text', words: words.text },
              { row: 'text', words: fill(words.unexpected, { brand }) },
            ],
          };
        });
      },

      InvitationRenewalRequested: async (event, context) => {
        const { websiteId, clientId, invitationId } = event.data;
        const findFor = async (to: string): Promise<Addressed | null> => {
          const { state } = await engine.state(accessFold, { websiteId, clientId });
          const invitation = state.invitations.get(invitationId);
          const website = await websiteName(websiteId);
          const address =
            invitation === undefined ? null : await personal.decrypt(await recipientOf(engine, clientId, invitation.email));
          if (invitation?.stage !== 'pending' || website === null || address === null) return null;
          const language = await languageOf(to);
          const { renewalMail: words } = textsOf(language);
          const isTransfer = invitation.kind === 'ownership_transfer';
          const path = `/websites/${websiteId}`;
          const call = isTransfer ? `POST ${path}/transfers` : `POST ${path}/client-invitations/${invitationId}/resend`;
          const page = `${baseUrl()}/app${path}/${isTransfer ? 'transfer' : 'people'}`;
          return {
            to,
            language,
            heading: fill(words.subject, { website }),
            rows: [
              // The page says who it is. An erasure would not find their address in a mail to somebody else.
              { row: 'text', words: fill(words.text, { website }) },
              ...button(language, fill(isTransfer ? words.transferAction : words.resendAction, { website }), page),
              { row: 'quiet', words: fill(isTransfer ? words.transfer : words.resend, { call }) },
            ],
          };
        };
        const recipients = await adminRecipients(event);
        await context.together(
          recipients.map(
            ({ to, recipient }) =>
              (own) =>
                give(event, recipient, own, () => findFor(to)),
          ),
        );
      },
    },
  });
};

const button = (language: Language, words: string, link: string): readonly MailRow[] => [
  { row: 'button', words, link },
  { row: 'address', words: textsOf(language).mail.fallback, link },
];
