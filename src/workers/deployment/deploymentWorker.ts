import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { RedeployEvent } from '../../events/deployment/deployment.events.js';
import { redeployStream } from '../../events/deployment/deployment.stream.js';
import { areSameValues } from '../../events/website/siteValues.js';
import { requireProvider } from '../../integrations/fault.js';
import type { Deployment, Hosting } from '../../integrations/hosting/port.js';
import { entityId } from '../../platform/ids.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import { faultOf } from '../taskFault.js';
import { publicationFold } from '../publication/publication.process.js';
import type { CreateReactor } from '../reactions.js';
import { siteFold, siteProcess } from '../site/site.process.js';
import type { Worker } from '../worker.js';
import { redeployMarker, redeployFold, redeployProcess, commandAfterStart } from './deployment.process.js';

type Requested = Extract<RedeployEvent, { type: 'RedeployRequested' }>;

/** Longer than a request waits for a provider, including retries. */
const SETTLED_AFTER_MS = 120_000;

/**
 * Finds out the outcome of redeployments that were requested and have no recorded outcome, because
 * the process died or the provider's answer was lost. One that was not begun stays so, because the
 * requester may no longer want it.
 */
export const createRedeployWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  hosting: Hosting;
}): Worker => {
  const { engine, reader, createReactor, hosting } = parts;
  const contextOf = createContextOf(engine, 'redeploy');
  const isOpen = async (redeployId: string): Promise<boolean> =>
    (await engine.state(redeployFold, { redeployId })).state.stage === 'requested';

  /** A publication begins it once the repository has all that is published, which may take long. */
  const isPublishing = async (redeployId: string): Promise<boolean> =>
    (await engine.state(publicationFold, { publicationId: redeployId })).state.stage === 'requested';

  /** The deployment, or why there is none. */
  const find = async ({ redeployId, provider, projectId }: Requested['data']): Promise<Deployment | string> => {
    try {
      requireProvider({ used: hosting, needed: { provider } });
      return (await hosting.findDeployment(projectId, redeployMarker(redeployId))) ?? 'The provider has begun none';
    } catch (error) {
      const fault = faultOf(error);
      if (fault.transient) throw error;
      return fault.error;
    }
  };

  /**
   * The deployment may show what is not recorded as shown. What it was built with is not known any more,
   * so a further one, unless nothing has changed since, is queued under an id of its own.
   */
  const queueIfNotShown = async (requestId: string, websiteId: string, context: CommandContext): Promise<void> => {
    const { document: website } = await reader.read(websiteProjection, websiteId);
    const { set } = (await engine.state(siteFold, { websiteId })).state;
    if (website === null || set === undefined || areSameValues(set, website.built)) return;
    await engine.handle(siteProcess, { type: 'QueueRedeploy', websiteId, redeployId: entityId(requestId, 'redeploy') }, context);
  };

  return createReactor({
    name: 'redeploy',
    streams: [redeployStream],
    on: {
      RedeployRequested: async (event, { signal, pause }) => {
        const { id, data } = event;
        const { redeployId, websiteId } = data;
        if (!(await isOpen(redeployId))) return;
        do await pause(SETTLED_AFTER_MS);
        while (!signal.aborted && (await isPublishing(redeployId)));
        if (signal.aborted || !(await isOpen(redeployId))) return;
        const found = await find(data);
        const redeploy = { redeployId, websiteId };
        if (typeof found === 'string') {
          await engine.handle(redeployProcess, { type: 'RecordNoStart', ...redeploy, reason: found }, contextOf(event));
          return;
        }
        if (found.status !== 'failed') await queueIfNotShown(id, websiteId, contextOf(event));
        // Last, because after it nothing of this is repeated.
        await engine.handle(redeployProcess, commandAfterStart(redeploy, found), contextOf(event));
      },
    },
  });
};
