import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import type { ServiceEvent } from '../../events/service/service.events.js';
import type { CreateReactor } from '../reactor.js';
import type { Worker } from '../worker.js';

type Detached = Recorded<Extract<ServiceEvent, { type: 'ServiceDetached' }>>;

/**
 * Destroys the secrets of every service that was taken away. Whoever takes one away does so at once; this is for those who were cut off in
 * between.
 */
export const createServiceSecretsWorker = ({ engine, createReactor }: { engine: Engine; createReactor: CreateReactor }): Worker =>
  createReactor({
    name: 'serviceSecrets',
    filter: { streamPrefixes: ['services-'], types: ['ServiceDetached'] },
    keyOf: ({ data }) => data.serviceId,
    react: (event) => engine.vault.destroySecret((event as Detached).data.serviceId),
  });
