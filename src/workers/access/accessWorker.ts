import {
  settleOwner,
  withdrawFromErased,
  withdrawFromOwner,
  withdrawOvertakenOffers,
} from '../../commands/access/access.handlers.js';
import { completeClaim } from '../../commands/access/claim.handlers.js';
import type { CommandContext } from '../../commands/handleCommand.js';
import { removeErasedOwner } from '../../commands/website/website.handlers.js';
import type { Engine } from '../../engine.js';
import { accessStream, type AccessKey } from '../../events/access/access.stream.js';
import type { Recorded } from '../../events/envelope.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { openTransfers } from '../../projections/access/access.queries.js';
import type { Reader } from '../../projections/reader.js';
import { createContextOf } from '../contextOf.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Completes what commands do after they assigned an owner or gave access: an owner has neither link
 * nor pending invitation, an assignment ends the offers made before it, who claimed an invitation to
 * another address of theirs is linked, and an erased client has neither website nor access. The commands do so at once; this worker covers those that were
 * interrupted. Any number of these may run on the same stores.
 */
export const createAccessWorker = (parts: { engine: Engine; reader: Reader; createReactor: CreateReactor }): Worker => {
  const { engine, reader, createReactor } = parts;

  const contextOf = createContextOf(engine, 'access');

  const withdrawOffers = async (websiteId: string, context: CommandContext): Promise<void> =>
    withdrawOvertakenOffers(engine, websiteId, await openTransfers(reader, websiteId), context);

  const checkLink = async (event: Recorded<{ type: string; data: AccessKey }>): Promise<void> => {
    const { websiteId, clientId } = event.data;
    await withdrawFromOwner(engine, { websiteId, clientId }, contextOf(event));
    await withdrawFromErased(engine, { websiteId, clientId }, contextOf(event));
  };

  return createReactor({
    name: 'access',
    streams: [websiteStream, accessStream],
    on: {
      WebsiteCreated: async (event) => {
        const { websiteId, clientId } = event.data;
        if (clientId !== undefined) await removeErasedOwner(engine, { websiteId, clientId }, contextOf(event));
      },
      WebsiteOwnerAssigned: async (event) => {
        const { websiteId, clientId } = event.data;
        const context = contextOf(event);
        await settleOwner(engine, { websiteId, clientId }, context, event.position);
        await withdrawOffers(websiteId, context);
        await removeErasedOwner(engine, { websiteId, clientId }, context);
      },
      ClientLinked: checkLink,
      ClientLinkRestored: checkLink,
      InvitationIssued: async (event) => {
        const { websiteId, clientId } = event.data;
        await withdrawFromErased(engine, { websiteId, clientId }, contextOf(event));
      },
      InvitationAccepted: (event) => completeClaim(engine, event.data.invitationId, contextOf(event)),
      // A claim that was under way when the owner was assigned came to nothing.
      TransferReleased: (event) => withdrawOffers(event.data.websiteId, contextOf(event)),
    },
  });
};
