import { createEmbeddedOutbox } from '../../src/integrations/email/embedded.js';
import type { Outbox, OutboxMail } from '../../src/integrations/email/port.js';
import { systemClock } from '../../src/platform/clock.js';
import { textId } from '../../src/platform/ids.js';

type Options = Parameters<typeof createEmbeddedOutbox>[0];

/** An outbox in `folder`, whose index of recipients has no key. */
export const createTestOutbox = (options: Pick<Options, 'folder'> & Partial<Options>): ReturnType<typeof createEmbeddedOutbox> =>
  createEmbeddedOutbox({ from: 'Doorstep <no-reply@doorstep.example>', blindIndex: textId, clock: systemClock, ...options });

/** The newest mail to that address. */
export const newestMail = async (outbox: Outbox, to: string): Promise<OutboxMail> => {
  const [mail] = await outbox.list({ to, limit: 1 });
  if (mail === undefined) throw new Error(`no mail was sent to ${to}`);
  return mail;
};
