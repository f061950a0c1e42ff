import type { Engine } from '../../engine.js';
import type { Actor } from '../../events/envelope.js';
import type { RedeployEvent } from '../../events/deployment/deployment.events.js';
import { redeployStream } from '../../events/deployment/deployment.stream.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { faultOf } from '../leasedTask.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { redeployMarker, redeployFold, redeployProcess, type RedeployCommand } from './deployment.process.js';

type Requested = Extract<RedeployEvent, { type: 'RedeployRequested' }>;
type Finding =
  | Pick<Extract<RedeployCommand, { type: 'RecordStart' }>, 'type' | 'deploymentId'>
  | Pick<Extract<RedeployCommand, { type: 'RecordNoStart' }>, 'type' | 'reason'>;

const actor: Actor = { subject: 'redeploy', role: 'system', via: 'worker' };
/** Longer than a request waits for a provider, including retries. */
const SETTLED_AFTER_MS = 120_000;

/**
 * Finds out the outcome of redeployments that were requested and have no recorded outcome, because
 * the process died or the provider's answer was lost. It begins no deployment, because the
 * requester may no longer want it.
 */
export const createRedeployWorker = (parts: { engine: Engine; createReactor: CreateReactor; hosting: Hosting }): Worker => {
  const { engine, createReactor, hosting } = parts;
  const isOpen = async (redeployId: string): Promise<boolean> =>
    (await engine.state(redeployFold, { redeployId })).state.stage === 'requested';

  const find = async ({ redeployId, provider, projectId }: Requested['data']): Promise<Finding> => {
    const nothing = (reason: string): Finding => ({ type: 'RecordNoStart', reason });
    if (provider !== hosting.provider) return nothing('The service is set up for another provider');
    try {
      const deployment = await hosting.findDeployment(projectId, redeployMarker(redeployId));
      if (deployment === null) return nothing('The provider has begun none');
      return { type: 'RecordStart', deploymentId: deployment.id };
    } catch (error) {
      const fault = faultOf(error);
      if (fault.transient) throw error;
      return nothing(fault.error);
    }
  };

  return createReactor({
    name: 'redeploy',
    streams: [redeployStream],
    on: {
      RedeployRequested: async ({ id, data, metadata }, { signal, pause }) => {
        const { redeployId, websiteId } = data;
        if (!(await isOpen(redeployId))) return;
        await pause(SETTLED_AFTER_MS);
        if (signal.aborted || !(await isOpen(redeployId))) return;
        const { requestId, correlationId } = metadata;
        const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: id };
        await engine.handle(redeployProcess, { redeployId, websiteId, ...(await find(data)) }, context);
      },
    },
  });
};
