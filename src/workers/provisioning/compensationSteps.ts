import type { CommandContext } from '../../commands/handleCommand.js';
import type { Leftover } from '../../events/provisioning/provisioning.events.js';
import type { HeldLease } from '../heldLease.js';
import type { LeasedTask } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import type { RecordFailure } from '../lease.js';
import { madeBy, removeMade, removersOf } from './removeMade.js';
import type { LeftoverRemoval } from './provisioning.commands.js';
import { provisioningCompensation } from './provisioning.compensation.js';
import {
  leftoversOf,
  provisioningFold,
  type JobInCompensation,
  type ProvisioningState,
} from '../../events/provisioning/provisioning.state.js';
import type { StepTools } from './steps.js';

const TIMEOUT_MS = 2 * 60_000;

const openIn = (state: ProvisioningState): JobInCompensation | null => (state.stage === 'compensating' ? state : null);

/**
 * Removes what a failed job has left at the providers, in the reverse order of its making, and
 * records each removal. Removes only what has the job's marker.
 */
export const compensationTask = (
  tools: StepTools,
  { jobId, worker, contextOf }: { jobId: string; worker: string; contextOf: (job: JobInCompensation) => CommandContext },
): LeasedTask<JobInCompensation, LeftoverRemoval | RecordFailure> => {
  const { engine } = tools;
  const removers = removersOf(tools);

  const removeAll = async (
    what: Leftover,
    { names, outputs, request: { slug } }: JobInCompensation,
    lease: HeldLease,
  ): Promise<LeftoverRemoval> => {
    const { provider, removeOne } = removers[what];
    const whileHeld: typeof removeOne = (request) => {
      lease.assertHeld();
      return removeOne(request);
    };
    const removed = await removeMade({ provider, removeOne: whileHeld }, { names, marker: jobId, made: madeBy(outputs)[what] });
    return { type: 'RecordRemoval', what, name: removed[0] ?? slug, found: removed.length > 0 };
  };

  return {
    worker,
    logger: () => engine.logger.child({ worker: 'provisioning', jobId, compensation: true }),
    load: async () => openIn((await engine.state(provisioningFold, { jobId })).state),
    handle: async (command, job) =>
      openIn((await engine.handle(provisioningCompensation, { jobId, ...command }, contextOf(job))).state),
    timeoutMs: () => TIMEOUT_MS,
    execute: async (job, lease) => {
      for (const what of leftoversOf(job)) await lease.record(await removeAll(what, job, lease));
      return null;
    },
    failure: { message: 'a compensation failed', outcome: recordFailure },
  };
};
