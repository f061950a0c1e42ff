import { createEmbeddedOutbox } from '../../src/integrations/email/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { textId } from '../../src/platform/ids.js';

type Options = Parameters<typeof createEmbeddedOutbox>[0];

/** An outbox in `folder`, whose index of recipients has no key. */
export const createTestOutbox = (options: Pick<Options, 'folder'> & Partial<Options>): ReturnType<typeof createEmbeddedOutbox> =>
  createEmbeddedOutbox({ from: 'Doorstep <no-reply@doorstep.example>', blindIndex: textId, clock: systemClock, ...options });
