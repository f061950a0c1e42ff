import type { Engine } from '../../engine.js';
import { servicesStream } from '../../events/service/service.stream.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Removes the secrets of every service that was detached. The command that detaches one does so at
 * once; this is for those that were cut off in between.
 */
export const createServiceSecretsWorker = ({ engine, createReactor }: { engine: Engine; createReactor: CreateReactor }): Worker =>
  createReactor({
    name: 'serviceSecrets',
    streams: [servicesStream],
    on: { ServiceDetached: ({ data }) => engine.vault.deleteSecret(data.serviceId) },
    key: ({ data }) => data.serviceId,
  });
