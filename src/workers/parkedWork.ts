import type { CommandContext } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import type { ParkedWork } from '../projections/parkedWork/parkedWork.projection.js';
import { invitationMailProcess } from './invitationMail/invitationMail.process.js';
import { reactionProcess } from './reaction/reaction.process.js';
import { webhookProcess } from './webhook/webhook.process.js';

/** Has the workers try it again, with the whole time ahead of it. */
export const retryParked = async (
  { handle }: Pick<Engine, 'handle'>,
  work: ParkedWork,
  context: CommandContext,
): Promise<void> => {
  switch (work.kind) {
    case 'mail':
      await handle(invitationMailProcess, { type: 'ReopenMail', ...work.of }, context);
      return;
    case 'webhook':
      await handle(webhookProcess, { type: 'ReopenWebhook', ...work.of }, context);
      return;
    case 'reaction':
      await handle(reactionProcess, { type: 'ReopenReaction', ...work.of }, context);
      return;
  }
};
