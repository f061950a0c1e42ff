import type { Untimed } from '../../commands/decider.js';
import type { Engine } from '../../engine.js';
import { pushStream } from '../../events/push/push.stream.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { entityId } from '../../platform/ids.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import { redeployFold, redeployProcess, type RedeployCommand } from '../deployment/deployment.process.js';
import type { Deployments } from '../deployment/deployments.js';
import type { CreateReactor } from '../reactions.js';
import { faultOf } from '../taskFault.js';
import type { Worker } from '../worker.js';

/**
 * Deploys what was pushed to the default branch of an embedded repository. A deployment builds the
 * newest commit, so a push that another deployment has come after is deployed already.
 */
export const createPushWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  hosting: Hosting;
  deployments: Deployments;
}): Worker => {
  const { engine, reader, createReactor, hosting, deployments } = parts;
  const contextOf = createContextOf(engine, 'push');

  return createReactor({
    name: 'push',
    streams: [pushStream],
    on: {
      DefaultBranchPushed: async (event) => {
        const {
          id,
          data: { websiteId, commit },
        } = event;
        const { document: website } = await reader.read(websiteProjection, websiteId);
        const project = website?.hosting;
        // Archived since, or served elsewhere.
        if (website === null || website.archivedAt !== undefined || project?.provider !== hosting.provider) return;
        const { projectId } = project;
        // Repeated, it is the same deployment.
        const redeployId = entityId(id, 'redeploy');
        const of = { redeployId, websiteId };
        const request = { type: 'RequestRedeploy', ...of, provider: hosting.provider, projectId } as const;
        const handle = (command: Untimed<RedeployCommand>) => engine.handle(redeployProcess, command, contextOf(event));
        const { stage } = (await engine.state(redeployFold, { redeployId })).state;
        if (stage === 'started') return;
        try {
          if (stage === 'none') {
            const [newest] = await hosting.listDeployments(projectId, 1);
            if (newest?.commit === commit && newest.status === 'ready') return;
            await handle(request);
          }
          await deployments.redeploy({ ...website, hosting: project }, redeployId, () => contextOf(event));
        } catch (error) {
          const fault = faultOf(error);
          if (fault.transient) throw error;
          engine.logger.warn({ err: error, worker: 'push', ...of, commit }, 'a push could not be deployed');
          // The provider may have refused before anything was requested.
          await handle(request);
          await handle({ type: 'RecordNoStart', ...of, reason: fault.error });
        }
      },
    },
  });
};
