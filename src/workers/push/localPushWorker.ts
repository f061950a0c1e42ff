import type { Engine } from '../../engine.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import type { GitServer } from '../../integrations/sourceHost/port.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { storeFaultLevel } from '../../projections/store/storeFault.js';
import { provisioningFold } from '../../events/provisioning/provisioning.state.js';
import { processActor } from '../contextOf.js';
import type { Worker } from '../worker.js';
import { pushFold, pushProcess } from './push.process.js';

const actor = processActor('localPush');
/** Who pushed over HTTP is known to the process that took the push, which records it first. */
const settledAfterMs = 1_500;
const retryAfterMs = 15_000;

/**
 * Notices pushes into the embedded repositories that come by no request: from this machine, or while
 * the service was down. What they lead to is recorded as any push is.
 */
export const createLocalPushWorker = (parts: {
  engine: Engine;
  reader: Reader;
  hosting: Hosting;
  gitServer: GitServer;
}): Worker => {
  const { engine, reader, hosting, gitServer } = parts;
  const { clock, logger } = engine;
  const waiting = new Map<string, () => void>();
  const underWay = new Set<Promise<void>>();
  let stopWatching = (): void => undefined;
  let isStopped = false;

  const recordIfPushed = async (repositoryId: string): Promise<void> => {
    const commit = await gitServer.headOf(repositoryId);
    const jobId = await gitServer.markerOf(repositoryId);
    if (commit === null || jobId === null) return;
    const { state: job } = await engine.state(provisioningFold, { jobId });
    if (job.stage === 'none') return;
    const { websiteId } = job.request;
    const { document: website } = await reader.read(websiteProjection, websiteId);
    const projectId = website?.hosting?.projectId;
    if (website?.repository?.id !== repositoryId || website.archivedAt !== undefined || projectId === undefined) return;
    const { state } = await engine.state(pushFold, { websiteId });
    if (state.commit === commit || website.hosting?.provider !== hosting.provider) return;
    const [newest] = await hosting.listDeployments(projectId, 1);
    // Nothing was pushed since then, or it was deployed by hand.
    if (newest === undefined || newest.commit === commit) return;
    const commandId = engine.ids.commandId();
    const push = { type: 'RecordPush', websiteId, commit, previousCommit: state.commit ?? newest.commit } as const;
    await engine.handle(pushProcess, push, { commandId, actor, requestId: commandId });
  };

  const compare = async (repositoryId: string): Promise<void> => {
    if (isStopped) return;
    const check = recordIfPushed(repositoryId);
    underWay.add(check);
    try {
      await check;
    } finally {
      underWay.delete(check);
    }
  };

  const checkAfter = (ms: number, repositoryId: string): void => {
    if (isStopped) return;
    waiting.get(repositoryId)?.();
    const cancel = clock.schedule(ms, () => {
      waiting.delete(repositoryId);
      compare(repositoryId).catch((error: unknown) => {
        logger[storeFaultLevel(error)](
          { err: error, repositoryId },
          'whether somebody pushed could not be found out; trying again',
        );
        checkAfter(retryAfterMs, repositoryId);
      });
    });
    waiting.set(repositoryId, cancel);
  };

  return {
    name: 'localPush',
    start: async () => {
      stopWatching = await gitServer.watch({
        compare,
        onChange: (repositoryId) => {
          checkAfter(settledAfterMs, repositoryId);
        },
      });
    },
    stop: async () => {
      isStopped = true;
      stopWatching();
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
      await Promise.allSettled(underWay);
    },
  };
};
