import type { Decider } from '../../commands/decider.js';
import type { ProvisioningEvent } from '../../events/provisioning/provisioning.events.js';
import { decideFailure, decideRenewal, decideStart, isUnderWay, retryFor } from '../lease.js';
import type { CompensationCommand } from './provisioning.commands.js';
import { STEP_RETRY_MS } from './provisioning.process.js';
import { leftoversOf, ofJob, provisioningFold, type JobInCompensation, type ProvisioningState } from './provisioning.state.js';

type Command<Type extends CompensationCommand['type']> = Extract<CompensationCommand, { type: Type }>;
type Events = readonly ProvisioningEvent[];

const start = (command: Command<'StartAttempt'>, job: JobInCompensation): Events =>
  decideStart(job.attempts, command, (lease) => [{ type: 'ProvisioningCompensationStarted', data: { ...ofJob(job), ...lease } }]);

const renewLease = (command: Command<'RenewLease'>, job: JobInCompensation): Events =>
  decideRenewal(job.attempts, command, (lease) => [
    { type: 'ProvisioningCompensationLeaseRenewed', data: { ...ofJob(job), ...lease } },
  ]);

const recordRemoval = ({ attempt, what, name, found }: Command<'RecordRemoval'>, job: JobInCompensation): Events => {
  if (!isUnderWay(job.attempts, attempt) || job.removed.includes(what)) return [];
  const data = { ...ofJob(job), attempt, what, name, found };
  const removal: ProvisioningEvent = { type: 'ProvisioningLeftoverRemoved', data };
  const isLast = leftoversOf(job).length === 1;
  return isLast ? [removal, { type: 'ProvisioningCompensated', data: ofJob(job) }] : [removal];
};

const recordFailure = (command: Command<'RecordFailure'>, job: JobInCompensation): Events =>
  decideFailure(
    job.attempts,
    command,
    (failure) => [{ type: 'ProvisioningCompensationFailed', data: { ...ofJob(job), ...failure } }],
    retryFor(STEP_RETRY_MS),
  );

const decide = (command: CompensationCommand, state: ProvisioningState): Events => {
  if (state.stage !== 'compensating') return [];
  switch (command.type) {
    case 'StartAttempt':
      return start(command, state);
    case 'RenewLease':
      return renewLease(command, state);
    case 'RecordRemoval':
      return recordRemoval(command, state);
    case 'RecordFailure':
      return recordFailure(command, state);
    default:
      return command satisfies never;
  }
};

/**
 * The same stream: removes what a failed job has left at the providers, the project first, then the
 * repository.
 */
export const provisioningCompensation: Decider<ProvisioningState, CompensationCommand, ProvisioningEvent> = {
  ...provisioningFold,
  decide,
};
