import { completeErasure, type ErasureParts } from '../../commands/erasure/erasure.handlers.js';
import type { Engine } from '../../engine.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientStream } from '../../events/client/client.stream.js';
import type { Actor } from '../../events/envelope.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

const actor: Actor = { subject: 'erasure', role: 'system', via: 'worker' };

/**
 * Completes every erasure that was begun, wherever it was interrupted. Any number of these may run
 * on the same stores.
 */
export const createErasureWorker = (parts: { engine: Engine; createReactor: CreateReactor; erasure: ErasureParts }): Worker => {
  const { engine, createReactor, erasure } = parts;
  return createReactor({
    name: 'erasure',
    streams: [clientStream],
    on: {
      ClientErased: async ({ id, data: { clientId }, metadata: { requestId, correlationId } }) => {
        const { state } = await engine.state(clientFold, { clientId });
        if (state.stage !== 'erased') return;
        const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: id };
        await completeErasure(engine, erasure, { clientId, email: state.email }, context);
      },
    },
  });
};
