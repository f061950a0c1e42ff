import type { Leftover } from '../../events/provisioning/provisioning.events.js';
import { leaseOf, type Token } from '../attempts.js';
import type { Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt, type Held } from '../runAttempt.js';
import { leftOf } from './provisioning.compensation.js';
import type { JobInCleanup, ProvisioningInput, ProvisioningState } from './provisioning.commands.js';
import type { StepTools } from './steps.js';

const TIMEOUT_MS = 2 * 60_000;

type Tell = (job: JobInCleanup, input: ProvisioningInput) => Promise<ProvisioningState>;

/**
 * Removes what a failed job has left at the providers, in the reverse order of its making, and records each removal. Only what carries
 * the job's marker is removed.
 * @param parts `look` reads the job, `tell` appends to its stream
 */
export const cleanUp = async (
  tools: StepTools,
  parts: { worker: string; turn: Turn; look: () => Promise<ProvisioningState>; tell: Tell },
): Promise<void> => {
  const { engine, sourceHost, hosting } = tools;
  const { worker, turn, look, tell } = parts;
  const { clock, random } = engine;

  const remove = (what: Leftover, { request: { slug: name, jobId: marker } }: JobInCleanup): Promise<boolean> =>
    what === 'project' ? hosting.deleteProject({ name, marker }) : sourceHost.deleteRepository({ name, marker });

  const attempt = async (job: JobInCleanup, lease: Token): Promise<void> => {
    const { attempt: number } = job.attempts;
    const logger = engine.logger.child({ worker: 'provisioning', jobId: job.request.jobId, cleanup: number });
    const act = async (held: Held): Promise<void> => {
      for (const what of leftOf(job)) {
        held.confirm();
        const found = await remove(what, job);
        await tell(job, { type: 'RecordRemoval', attempt: number, what, found });
      }
    };
    const renew = async (held: Token): Promise<Token | null> => {
      const state = await tell(job, { type: 'RenewCleanupLease', attempt: number, lease: held });
      return state.stage === 'cleaning' ? leaseOf(state.attempts, worker) : null;
    };
    const onFault = (error: unknown): void => {
      logger.warn({ err: error }, 'the lease could not be renewed');
    };
    try {
      await runAttempt({ clock, timeoutMs: TIMEOUT_MS, lease, renew, onFault, act });
    } catch (error) {
      if (error instanceof LeaseLost) return;
      const fault = faultOf(error);
      logger.warn({ err: error }, 'a clean-up failed');
      await tell(job, { type: 'RecordCleanupFailure', attempt: number, fault, jitter: random.fraction() });
    }
  };

  await attemptUntilDone({
    clock,
    worker,
    turn,
    look: async () => {
      const state = await look();
      return state.stage === 'cleaning' ? state : null;
    },
    attempt: async (job, waitedOut) => {
      const state = await tell(job, { type: 'StartCleanup', attempt: job.attempts.attempt + 1, worker, waitedOut });
      const lease = state.stage === 'cleaning' ? leaseOf(state.attempts, worker) : null;
      if (state.stage === 'cleaning' && lease !== null) await attempt(state, lease);
    },
  });
};
