import type { Engine } from '../../engine.js';
import { accessStream } from '../../events/access/access.stream.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientStream } from '../../events/client/client.stream.js';
import type { Recorded } from '../../events/envelope.js';
import { NO_STREAM } from '../../events/store/eventStore.js';
import type { EmailSender } from '../../integrations/email/port.js';
import { composeMail, type MailLook } from '../../platform/mail/composeMail.js';
import type { Language } from '../../platform/texts/texts.js';
import type { Reader } from '../../projections/reader.js';
import { createContextOf } from '../contextOf.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure, withoutAddress } from '../taskFault.js';
import type { TaskContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { noticeMailFold, noticeMailProcess, type NoticeMailState, type NoticeOutcome } from './noticeMail.process.js';
import { createNotices, type Notice } from './notices.js';

interface OpenNotice extends NoticeMailState {
  /** Null when it is no longer to be given. */
  readonly notice: Notice | null;
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
  const { engine, createReactor, email, look, adminEmails } = parts;
  const notices = createNotices({ ...parts, brand: look.brand.name });
  const worker = engine.ids.commandId();
  const contextOf = createContextOf(engine, 'noticeMail');

  const send = async (noticeId: string, { to, client, language, ...content }: Notice): Promise<void> => {
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

  const task = (noticeId: string, event: Recorded, find: () => Promise<Notice | null>): LeasedTask<OpenNotice, NoticeOutcome> => {
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

  const give = (event: Recorded, recipient: string, context: TaskContext, find: () => Promise<Notice | null>) =>
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
      ClientLinkNoticeRequested: (event, context) => give(event, 'client', context, () => notices.linkGiven(event.data)),
      ClientEmailChangeRequested: (event, context) => give(event, 'client', context, () => notices.addressToConfirm(event.data)),
      ClientEmailChanged: (event, context) => give(event, 'client', context, () => notices.addressChanged(event.data)),
      InvitationRenewalRequested: async (event, context) => {
        const recipients = await adminRecipients(event);
        await context.together(
          recipients.map(
            ({ to, recipient }) =>
              (own) =>
                give(event, recipient, own, () => notices.renewalRequested(event.data, to)),
          ),
        );
      },
    },
  });
};
