import type { CommandContext } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import type { Actor, Recorded } from '../events/envelope.js';

/** Makes the context of a command that `actor` gives because of an event; each has an id of its own. */
export const createContextOf =
  ({ ids }: Pick<Engine, 'ids'>, actor: Actor) =>
  ({ id, metadata: { requestId, correlationId } }: Pick<Recorded, 'id' | 'metadata'>): CommandContext => ({
    commandId: ids.commandId(),
    actor,
    requestId,
    correlationId,
    causationId: id,
  });
