import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { type RedeployEvent } from '../../events/deployment/deployment.events.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import type { CreateReactor } from '../reactor.js';
import { faultOf } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import { redeployMarker, redeployFold, redeployProcess, type RedeployCommand } from './deployment.process.js';

type Requested = Recorded<Extract<RedeployEvent, { type: 'RedeployRequested' }>>;
type Finding =
  | Pick<Extract<RedeployCommand, { type: 'RecordStart' }>, 'type' | 'deploymentId'>
  | Pick<Extract<RedeployCommand, { type: 'RecordNoStart' }>, 'type' | 'reason'>;

const actor: Actor = { subject: 'redeploy', role: 'system', via: 'worker' };
/** Longer than a request waits for a provider, its repetitions included. */
const SETTLED_WITHIN_MS = 120_000;

/**
 * Finds out what came of redeployments that were asked for and of which nothing more was heard: the process died, or the provider's answer
 * was lost. It begins none: nobody may be waiting for it any more.
 */
export const createRedeployWorker = (parts: { engine: Engine; createReactor: CreateReactor; hosting: Hosting }): Worker => {
  const { engine, createReactor, hosting } = parts;
  const isOpen = async (redeployId: string): Promise<boolean> =>
    (await engine.state(redeployFold, { redeployId })).state.stage === 'asked';

  const look = async ({ redeployId, provider, projectId }: Requested['data']): Promise<Finding> => {
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
    filter: { streamPrefixes: ['redeploy-'], types: ['RedeployRequested'] },
    keyOf: ({ stream }) => stream,
    react: async (event, turn) => {
      const { id, data, metadata } = event as Requested;
      const { redeployId, websiteId } = data;
      if (!(await isOpen(redeployId))) return;
      await turn.pause(SETTLED_WITHIN_MS);
      if (turn.signal.aborted || !(await isOpen(redeployId))) return;
      const { requestId, correlationId } = metadata;
      const context = { commandId: engine.ids.commandId(), actor, requestId, correlationId, causationId: id };
      const command = { redeployId, websiteId, ...(await look(data)) };
      await engine.handle(redeployProcess, command, context);
    },
  });
};
