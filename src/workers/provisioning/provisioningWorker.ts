import type { CommandContext } from '../../commands/handleCommand.js';
import { websiteDecider } from '../../commands/website/website.decider.js';
import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import {
  provisioningFold,
  type Job,
  type OpenJob,
  type ProvisioningState,
} from '../../events/provisioning/provisioning.state.js';
import { provisioningStream } from '../../events/provisioning/provisioning.stream.js';
import type { WebsiteEvent } from '../../events/website/website.events.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { embedded } from '../../integrations/embeddedFiles.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { traceRequests, type TracedRequest } from '../../integrations/requestTrace.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import { processActor } from '../contextOf.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import { recordFailure } from '../taskFault.js';
import type { Worker } from '../worker.js';
import { compensationTask } from './compensationSteps.js';
import type { StepFailure, StepOutcome } from './provisioning.commands.js';
import { provisioningProcess } from './provisioning.process.js';
import { activation, steps, type StepTools } from './steps.js';

type WebsiteCreated = Recorded<Extract<WebsiteEvent, { type: 'WebsiteCreated' }>>;

const actor = processActor('provisioning');

/**
 * Jobs at the same time where this machine does all the work: more take no less time, and hold requests up
 * (docs/performance.md).
 */
const MAX_EMBEDDED_JOBS = 5;

const openIn = (state: ProvisioningState): OpenJob | null => (state.stage === 'open' ? state : null);

/**
 * Builds every website that is created, step by step (specification, "Provisioning pipeline"). Any
 * number of these may run on the same stores: the one that appends the start of a step runs it.
 */
export const createProvisioningWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  sourceHost: SourceHost;
  hosting: Hosting;
  visit: StepTools['visit'];
}): Worker => {
  const { engine, createReactor } = parts;
  const worker = engine.ids.commandId();
  const tools: StepTools = parts;
  const isEmbedded = [parts.sourceHost, parts.hosting].every(({ provider }) => provider === embedded);

  const contextOf = ({ requestId, correlationId }: Job): CommandContext => {
    const commandId = engine.ids.commandId();
    return { commandId, actor, requestId, correlationId };
  };

  const queue = async ({ id, data, metadata: { at: createdAt, requestId, correlationId } }: WebsiteCreated): Promise<void> => {
    const { provisioningJobId: jobId, websiteId, name, slug, templateId, brandColor, collaborators } = data;
    const { state } = await engine.state(provisioningFold, { jobId });
    if (state.stage !== 'none') return;
    const colour = brandColor === undefined ? {} : { brandColor };
    const request = { jobId, websiteId, name, slug, templateId, ...colour, collaborators, createdAt };
    // The event's own id, so that the job is queued once, by however many workers.
    const context = { commandId: id, actor, requestId, correlationId, causationId: id };
    await engine.handle(provisioningProcess, { type: 'QueueProvisioning', jobId, request }, context);
  };

  const stepsTask = (jobId: string, signal: AbortSignal): LeasedTask<OpenJob, StepOutcome | StepFailure> => {
    /** Of the attempt under way: a job has one at a time. */
    let requests: TracedRequest[] = [];
    return {
      worker,
      logger: ({ step, request: { websiteId } }) => engine.logger.child({ worker: 'provisioning', jobId, websiteId, step }),
      load: async () => openIn((await engine.state(provisioningFold, { jobId })).state),
      handle: async (command, job) => {
        const ofStep = { jobId, step: job.step, run: job.run };
        return openIn((await engine.handle(provisioningProcess, { ...ofStep, ...command }, contextOf(job))).state);
      },
      timeoutMs: ({ step }) => steps[step].timeoutMs,
      execute: async (job, lease) => {
        const trace: TracedRequest[] = [];
        requests = trace;
        const run = () => steps[job.step].execute(tools, { job, lease });
        // Nobody else is asked, and a trace under way makes every promise of the process dearer.
        const result = await (isEmbedded ? run() : traceRequests(trace, run));
        return { type: 'RecordSuccess', result, nextWorker: signal.aborted ? undefined : worker, requests: trace };
      },
      failure: {
        message: 'a step of provisioning failed',
        outcome: (error, jitter) => ({ ...recordFailure(error, jitter), requests: [...requests] }),
      },
    };
  };

  /** Needs no lease: the job is decided, and each of the two commands has an effect once. */
  const complete = async (jobId: string): Promise<void> => {
    const { state } = await engine.state(provisioningFold, { jobId });
    if (state.stage !== 'verified') return;
    await engine.handle(websiteDecider, activation(state), contextOf(state));
    await engine.handle(provisioningProcess, { type: 'CompleteProvisioning', jobId }, contextOf(state));
  };

  const runSteps = async (jobId: string, context: ReactionContext): Promise<void> => {
    await runLeasedTask(engine, context, stepsTask(jobId, context.signal));
    await complete(jobId);
  };

  return createReactor({
    name: 'provisioning',
    streams: [websiteStream, provisioningStream],
    key: ({ data }) => ('jobId' in data ? data.jobId : data.provisioningJobId),
    ...(isEmbedded && { maxRunning: MAX_EMBEDDED_JOBS }),
    on: {
      WebsiteCreated: async (event, context) => {
        await queue(event);
        await runSteps(event.data.provisioningJobId, context);
      },
      ProvisioningRetried: ({ data }, context) => runSteps(data.jobId, context),
      ProvisioningCompensationRequested: ({ data: { jobId } }, context) =>
        runLeasedTask(engine, context, compensationTask(tools, { jobId, worker, contextOf })),
    },
  });
};
