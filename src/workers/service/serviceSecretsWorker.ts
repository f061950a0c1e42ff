import type { Engine } from '../../engine.js';
import { servicesStream } from '../../events/service/service.stream.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Deletes the secrets of detached services. The command that detaches a service does so at once;
 * this worker covers commands that were interrupted.
 */
export const createServiceSecretsWorker = ({ engine, createReactor }: { engine: Engine; createReactor: CreateReactor }): Worker =>
  createReactor({
    name: 'serviceSecrets',
    streams: [servicesStream],
    on: { ServiceDetached: ({ data }) => engine.vault.deleteSecret(data.serviceId) },
    key: ({ data }) => data.serviceId,
  });
