import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { publicationStream } from '../../../events/publication/publication.stream.js';
import { ProviderFault } from '../../../integrations/fault.js';
import { publicationFold } from '../../../workers/publication/publication.process.js';
import { awaitMs, isPausedBeyond } from '../../awaiting.js';
import { httpErrors } from '../../errors.js';

/**
 * Waits until the deployment of a publication has begun, which whatever worker there is sees to. It
 * goes on when nobody waits any more.
 * @returns the id of the deployment
 * @throws Refused, ProviderFault when it came to nothing, or will not be tried again in time; HttpFault
 *   503 when nothing is known after 15 s
 */
export const awaitPublication = async (engine: Engine, publicationId: string, gone: AbortSignal): Promise<string> => {
  const deploymentId = await engine.waitFor(
    [publicationStream.name({ publicationId })],
    { timeoutMs: awaitMs, gone },
    (deadline) => findDeployed(engine, publicationId, deadline),
  );
  if (deploymentId !== null) return deploymentId;
  throw httpErrors.publicationUnderWay();
};

/** @throws what keeps it from being deployed before `deadline` */
const findDeployed = async (engine: Engine, publicationId: string, deadline: number): Promise<string | null> => {
  const { stage, attempts, lastFault, deploymentId } = (await engine.state(publicationFold, { publicationId })).state;
  if (deploymentId !== undefined) return deploymentId;
  if (lastFault === undefined || (stage !== 'failed' && !isPausedBeyond(attempts, deadline))) return null;
  const { error, transient, provider } = lastFault;
  if (provider !== undefined) throw new ProviderFault({ provider, message: error, transient });
  throw transient ? new Error(`publication ${publicationId} failed: ${error}`) : new Refused(refusals.publicationFailed(error));
};
