import type { Decider } from '../../commands/decider.js';
import type { ProvisioningEvent } from '../../events/provisioning/provisioning.events.js';
import { isUnderWay } from '../../events/attempts.js';
import { decideLease, retryFor, type LeaseCommand } from '../lease.js';
import type { CompensationCommand } from './provisioning.commands.js';
import { STEP_RETRY_MS } from './provisioning.process.js';
import {
  leftoversOf,
  ofJob,
  provisioningFold,
  type JobInCompensation,
  type ProvisioningState,
} from '../../events/provisioning/provisioning.state.js';

type Command<Type extends CompensationCommand['type']> = Extract<CompensationCommand, { type: Type }>;
type Events = readonly ProvisioningEvent[];

const recordRemoval = ({ attempt, what, name, found }: Command<'RecordRemoval'>, job: JobInCompensation): Events => {
  if (!isUnderWay(job.attempts, attempt) || job.removed.includes(what)) return [];
  const data = { ...ofJob(job), attempt, what, name, found };
  const removal: ProvisioningEvent = { type: 'ProvisioningLeftoverRemoved', data };
  const isLast = leftoversOf(job).length === 1;
  return isLast ? [removal, { type: 'ProvisioningCompensated', data: ofJob(job) }] : [removal];
};

const recordLease = (command: Command<LeaseCommand['type']>, job: JobInCompensation): Events =>
  decideLease<ProvisioningEvent>(
    job.attempts,
    command,
    {
      started: (lease) => [{ type: 'ProvisioningCompensationStarted', data: { ...ofJob(job), ...lease } }],
      renewed: (lease) => [{ type: 'ProvisioningCompensationLeaseRenewed', data: { ...ofJob(job), ...lease } }],
      failed: (failure) => [{ type: 'ProvisioningCompensationFailed', data: { ...ofJob(job), ...failure } }],
    },
    retryFor(STEP_RETRY_MS),
  );

const decide = (command: CompensationCommand, state: ProvisioningState): Events => {
  if (state.stage !== 'compensating') return [];
  return command.type === 'RecordRemoval' ? recordRemoval(command, state) : recordLease(command, state);
};

/**
 * The same stream: removes what a failed job has left at the providers, the project first, then the
 * repository.
 */
export const provisioningCompensation: Decider<ProvisioningState, CompensationCommand, ProvisioningEvent> = {
  ...provisioningFold,
  decide,
};
