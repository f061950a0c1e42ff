import { completeErasure, type ErasureParts } from '../../commands/erasure/erasure.handlers.js';
import type { Engine } from '../../engine.js';
import type { ClientEvent } from '../../events/client/client.events.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import type { CreateReactor } from '../reactor.js';
import type { Worker } from '../worker.js';
import { clientFold } from '../../events/client/client.state.js';

type Erased = Recorded<Extract<ClientEvent, { type: 'ClientErased' }>>;

const actor: Actor = { subject: 'erasure', role: 'system', via: 'worker' };

/** Ends every erasure that was begun, wherever it was cut off. Any number of these may run on the same stores. */
export const createErasureWorker = (parts: { engine: Engine; createReactor: CreateReactor; erasure: ErasureParts }): Worker => {
  const { engine, createReactor, erasure } = parts;
  return createReactor({
    name: 'erasure',
    filter: { streamPrefixes: ['client-'], types: ['ClientErased'] },
    keyOf: ({ data }) => data.clientId,
    react: async (event) => {
      const { id, data, metadata } = event as Erased;
      const { clientId } = data;
      const { state } = await engine.state(clientFold, { clientId });
      if (state.stage !== 'erased') return;
      const { requestId, correlationId } = metadata;
      const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: id };
      await completeErasure(engine, erasure, { clientId, email: state.email }, context);
    },
  });
};
