import { completeAddressChange } from '../../commands/client/addressChange.handlers.js';
import { completeErasure, type ErasureParts } from '../../commands/erasure/erasure.handlers.js';
import type { Engine } from '../../engine.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientStream } from '../../events/client/client.stream.js';
import { createContextOf } from '../contextOf.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Completes every erasure and every change of address that was begun, wherever it was interrupted. Any number of these may run
 * on the same stores.
 */
export const createErasureWorker = (parts: { engine: Engine; createReactor: CreateReactor; erasure: ErasureParts }): Worker => {
  const { engine, createReactor, erasure } = parts;
  const contextOf = createContextOf(engine, 'erasure');

  return createReactor({
    name: 'erasure',
    streams: [clientStream],
    on: {
      ClientEmailChanged: (event) => completeAddressChange(engine, erasure, event.data, contextOf(event)),
      ClientErased: async (event) => {
        const { clientId } = event.data;
        const { state } = await engine.state(clientFold, { clientId });
        if (state.stage === 'erased') await completeErasure(engine, erasure, { ...state, clientId }, contextOf(event));
      },
    },
  });
};
