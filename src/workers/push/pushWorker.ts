import type { Untimed } from '../../commands/decider.js';
import type { Engine } from '../../engine.js';
import type { Actor } from '../../events/envelope.js';
import { pushStream } from '../../events/push/push.stream.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { entityId } from '../../platform/ids.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { redeployFold, redeployMarker, redeployProcess, type RedeployCommand } from '../deployment/deployment.process.js';
import { faultOf } from '../leasedTask.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

const actor: Actor = { subject: 'push', role: 'system', via: 'worker' };

/**
 * Deploys what was pushed to the default branch of an embedded repository. A deployment builds the
 * newest commit, so a push that another deployment has come after is deployed already.
 */
export const createPushWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  hosting: Hosting;
}): Worker => {
  const { engine, reader, createReactor, hosting } = parts;

  return createReactor({
    name: 'push',
    streams: [pushStream],
    on: {
      DefaultBranchPushed: async ({ id, data: { websiteId, commit }, metadata }) => {
        const { document: website } = await reader.read(websiteProjection, websiteId);
        const projectId = website?.hosting?.projectId;
        // Archived since, or served elsewhere.
        if (website?.archivedAt !== undefined || website?.hosting?.provider !== hosting.provider || projectId === undefined)
          return;
        // Repeated, it is the same deployment.
        const redeployId = entityId(id, 'redeploy');
        const redeploy = { redeployId, websiteId };
        const handle = (command: Untimed<RedeployCommand>) => {
          const { requestId, correlationId } = metadata;
          const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: id };
          return engine.handle(redeployProcess, command, context);
        };
        const { stage } = (await engine.state(redeployFold, { redeployId })).state;
        if (stage === 'started') return;
        try {
          if (stage === 'none') {
            const [newest] = await hosting.listDeployments(projectId, 1);
            if (newest?.commit === commit && newest.status === 'ready') return;
            await handle({ type: 'RequestRedeploy', ...redeploy, provider: hosting.provider, projectId });
          }
          const { id: deploymentId } = await hosting.startDeployment(projectId, redeployMarker(redeployId));
          await handle({ type: 'RecordStart', ...redeploy, deploymentId });
        } catch (error) {
          const fault = faultOf(error);
          if (fault.transient) throw error;
          await handle({ type: 'RecordNoStart', ...redeploy, reason: fault.error });
        }
      },
    },
  });
};
