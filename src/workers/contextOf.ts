import type { CommandContext } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import type { Actor, Recorded } from '../events/envelope.js';

/** The process of that name, as the actor of what it does. */
export const processActor = (name: string): Actor => ({ subject: name, role: 'system', via: 'worker' });

/** Makes the context of a command that the process of that name gives because of an event; each has an id of its own. */
export const createContextOf = ({ ids }: Pick<Engine, 'ids'>, name: string) => {
  const actor = processActor(name);
  return ({ id, metadata: { requestId, correlationId } }: Pick<Recorded, 'id' | 'metadata'>): CommandContext => ({
    commandId: ids.commandId(),
    actor,
    requestId,
    correlationId,
    causationId: id,
  });
};
