import type { Engine } from '../../engine.js';
import { entityId } from '../../platform/ids.js';
import type { CommandContext } from '../handleCommand.js';
import { viewingDecider } from './viewing.decider.js';

/**
 * Records for the audit that an admin asks for the answer that somebody else would get.
 * @param input `email` in lower case; `path` without the query
 */
export const recordViewing = async (
  engine: Engine,
  input: { readonly email: string; readonly path: string; readonly websiteId: string | undefined },
  context: CommandContext,
): Promise<void> => {
  const viewingId = entityId(context.commandId, 'viewing');
  const email = await engine.personal.encrypt(input.email, input.email);
  await engine.handle(viewingDecider, { type: 'RecordViewing', viewingId, ...input, email }, context);
};
