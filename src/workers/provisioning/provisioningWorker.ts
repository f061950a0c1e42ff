import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { type ProvisioningEvent } from '../../events/provisioning/provisioning.events.js';
import type { WebsiteEvent } from '../../events/website/website.events.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import { leaseOf, type Token } from '../attempts.js';
import type { CreateReactor, Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt, type Held } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import { cleanUp } from './compensationSteps.js';
import type { JobInCleanup, OpenJob, ProvisioningInput, ProvisioningState } from './provisioning.commands.js';
import { provisioningFold, provisioningProcess } from './provisioning.process.js';
import { steps, type StepTools } from './steps.js';

type Created = Recorded<Extract<WebsiteEvent, { type: 'WebsiteCreated' }>>;
type Asked = Recorded<Extract<ProvisioningEvent, { type: 'ProvisioningRetried' | 'ProvisioningCompensationRequested' }>>;

interface Mine {
  readonly job: OpenJob;
  readonly lease: Token;
}

const actor: Actor = { subject: 'provisioning', role: 'system', via: 'worker' };

/**
 * Builds every website that is created, step by step (specification, "Provisioning pipeline"). Any number of these may run on the same
 * stores: whoever appends the start of a step runs it.
 */
export const createProvisioningWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  sourceHost: SourceHost;
  hosting: Hosting;
  visit: StepTools['visit'];
}): Worker => {
  const { engine, createReactor } = parts;
  const { clock, ids, random } = engine;
  const logger = engine.logger.child({ worker: 'provisioning' });
  const tools: StepTools = parts;
  const worker = ids.commandId();

  /** The job, when this worker holds the lease of its current step. */
  const mine = (state: ProvisioningState): Mine | null => {
    const lease = state.stage === 'open' ? leaseOf(state.attempts, worker) : null;
    return state.stage === 'open' && lease !== null ? { job: state, lease } : null;
  };

  const contextOf = ({ requestId, correlationId }: OpenJob | JobInCleanup): CommandContext => {
    const commandId = ids.commandId();
    return { commandId, actor, requestId, correlationId };
  };

  const tell = async (job: OpenJob | JobInCleanup, input: ProvisioningInput): Promise<ProvisioningState> =>
    (await engine.handle(provisioningProcess, { jobId: job.request.jobId, ...input }, contextOf(job))).state;

  const queue = async ({ id, data, metadata: { at: createdAt, requestId, correlationId } }: Created): Promise<void> => {
    const { provisioningJobId: jobId, websiteId, name, slug, templateId, brandColor, collaborators } = data;
    const colour = brandColor === undefined ? {} : { brandColor };
    const request = { jobId, websiteId, name, slug, templateId, ...colour, collaborators, createdAt };
    // The event's own id: however many workers queue the job, it is one append.
    const context = { commandId: id, actor, requestId, correlationId, causationId: id };
    await engine.handle(provisioningProcess, { type: 'QueueProvisioning', jobId, request }, context);
  };

  /** Makes the attempt that this worker holds the lease of, and answers with the next one when it holds that as well. */
  const attempt = async ({ job, lease }: Mine, signal: AbortSignal): Promise<Mine | null> => {
    const { step, attempts, request } = job;
    const current = { step, attempt: attempts.attempt };
    const { execute, timeoutMs } = steps[step];
    const log = logger.child({ jobId: request.jobId, websiteId: request.websiteId, ...current });
    const onFault = (error: unknown): void => {
      log.warn({ err: error }, 'the lease could not be renewed');
    };
    const renew = async (held: Token): Promise<Token | null> =>
      mine(await tell(job, { type: 'RenewLease', ...current, lease: held }))?.lease ?? null;
    const act = (held: Held) => execute(tools, { job, held, context: contextOf(job) });

    let outcome: ProvisioningInput;
    try {
      const result = await runAttempt({ clock, timeoutMs, lease, renew, onFault, act });
      outcome = { type: 'RecordSuccess', result, attempt: current.attempt, nextWorker: signal.aborted ? undefined : worker };
    } catch (error) {
      if (error instanceof LeaseLost) return null;
      const fault = faultOf(error);
      log.warn({ err: error }, 'a step of provisioning failed');
      outcome = { type: 'RecordFailure', ...current, fault, jitter: random.fraction() };
    }
    return mine(await tell(job, outcome));
  };

  const loader = (jobId: string) => async () => (await engine.state(provisioningFold, { jobId })).state;

  const run = async (jobId: string, created: Created | null, turn: Turn): Promise<void> => {
    const load = loader(jobId);
    if (created !== null && (await load()).stage === 'none') await queue(created);
    await attemptUntilDone({
      clock,
      worker,
      turn,
      look: async () => {
        const state = await load();
        return state.stage === 'open' ? state : null;
      },
      attempt: async (open, waitedOut) => {
        const { step, attempts } = open;
        const start = { type: 'StartStep', step, attempt: attempts.attempt + 1, worker, waitedOut } as const;
        let held = mine(await tell(open, start));
        while (held !== null) held = await attempt(held, turn.signal);
      },
    });
  };

  return createReactor({
    name: 'provisioning',
    filter: {
      streamPrefixes: ['website-', 'provisioning-'],
      types: ['WebsiteCreated', 'ProvisioningRetried', 'ProvisioningCompensationRequested'],
    },
    keyOf: ({ data }) => data.provisioningJobId ?? data.jobId,
    react: (event, turn) => {
      const { type, data } = event as Created | Asked;
      if (type === 'WebsiteCreated') return run(data.provisioningJobId, event as Created, turn);
      if (type === 'ProvisioningRetried') return run(data.jobId, null, turn);
      return cleanUp(tools, { worker, turn, look: loader(data.jobId), tell });
    },
  });
};
