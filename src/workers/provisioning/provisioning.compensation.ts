import type { AnyCommand } from '../../commands/decider.js';
import { refusals, type Refusal } from '../../commands/refusal.js';
import type { Recorded } from '../../events/envelope.js';
import { leftovers, stepIds, type ProvisioningEvent, type Leftover } from '../../events/provisioning/provisioning.events.js';
import { failed, isUnderWay, leaseFrom, mayStart, noAttempts, renewed, retryAt, started } from '../attempts.js';
import { ofJob, type CleanupCommand, type Job, type JobInCleanup, type ProvisioningState } from './provisioning.commands.js';

type CleanupEvent = Extract<ProvisioningEvent, { type: `Provisioning${'Compensat' | 'Leftover'}${string}` }>;
type Command<Type extends CleanupCommand['type']> = AnyCommand & Extract<CleanupCommand, { type: Type }>;
type Events = readonly ProvisioningEvent[];
type Begun = Extract<ProvisioningState, Job>;

/** What is still to be removed, in this order. */
export const leftOf = ({ removed }: JobInCleanup): readonly Leftover[] => leftovers.filter((what) => !removed.includes(what));

/** Its numbers go on from every attempt before: a late outcome is never taken for another's. */
const anew = ({ highest }: Job) => ({ attempts: { ...noAttempts, attempt: highest } });

export const evolveCleanup = (state: Begun, event: Recorded<CleanupEvent>): ProvisioningState => {
  if (event.type === 'ProvisioningCompensationRequested') return { ...state, ...anew(state), stage: 'cleaning', removed: [] };
  if (state.stage !== 'cleaning') return state;
  const { removed, ...job } = state;
  const { attempts } = job;
  switch (event.type) {
    case 'ProvisioningCompensationStarted': {
      const highest = Math.max(state.highest, event.data.attempt);
      return { ...state, highest, attempts: started(attempts, event) };
    }
    case 'ProvisioningCompensationLeaseRenewed':
      return { ...state, attempts: renewed(attempts, event) };
    case 'ProvisioningLeftoverRemoved':
      return { ...state, removed: [...removed, event.data.what] };
    case 'ProvisioningCompensationFailed': {
      const after = failed(attempts, event);
      // Given up: whatever is left is there still, and a retry goes on with the step that failed, if it can.
      return event.data.nextAttemptAt === undefined
        ? { ...job, ...anew(job), ...whatIsLeft(job, removed), stage: 'failed' }
        : { ...state, attempts: after };
    }
    case 'ProvisioningCompensated':
      return { ...job, ...anew(job), ...whatIsLeft(job, leftovers), stage: 'failed' };
  }
};

/** With the repository gone everything is to be made anew, with the project alone what belongs to it. */
const whatIsLeft = ({ outputs, step }: Job, removed: readonly Leftover[]): Pick<Job, 'outputs' | 'step'> => {
  if (removed.length === 0) return { outputs, step };
  const from = removed.includes('repository') ? 0 : Math.min(stepIds.indexOf('vercel_create_project'), stepIds.indexOf(step));
  const kept = stepIds.slice(0, from).map((id) => [id, outputs[id]]);
  return { outputs: Object.fromEntries(kept) as Job['outputs'], step: stepIds[from] ?? step };
};

/** The clean-up under the lease of the attempt that is under way. */
const current = (state: ProvisioningState, attempt: number): state is JobInCleanup =>
  state.stage === 'cleaning' && isUnderWay(state.attempts, attempt);

const request = ({ websiteId }: Command<'RequestCompensation'>, state: ProvisioningState): Events | Refusal => {
  if (state.stage === 'cleaning') return [];
  if (state.stage !== 'failed') return refusals.provisioningNotFailed(websiteId);
  return [{ type: 'ProvisioningCompensationRequested', data: ofJob(state) }];
};

const start = (command: Command<'StartCleanup'>, state: ProvisioningState): Events => {
  if (state.stage !== 'cleaning' || !mayStart(state.attempts, command)) return [];
  const { attempt, worker, at } = command;
  return [{ type: 'ProvisioningCompensationStarted', data: { ...ofJob(state), attempt, worker, leaseUntil: leaseFrom(at) } }];
};

const renew = ({ attempt, lease, at }: Command<'RenewCleanupLease'>, state: ProvisioningState): Events => {
  if (!current(state, attempt) || state.attempts.lease?.token !== lease) return [];
  return [{ type: 'ProvisioningCompensationLeaseRenewed', data: { ...ofJob(state), attempt, leaseUntil: leaseFrom(at) } }];
};

const recordRemoval = ({ attempt, what, found }: Command<'RecordRemoval'>, state: ProvisioningState): Events => {
  if (!current(state, attempt) || state.removed.includes(what)) return [];
  const data = { ...ofJob(state), attempt, what, name: state.request.slug, found };
  const removal: ProvisioningEvent = { type: 'ProvisioningLeftoverRemoved', data };
  const isLast = leftOf(state).length === 1;
  return isLast ? [removal, { type: 'ProvisioningCompensated', data: ofJob(state) }] : [removal];
};

const recordFailure = (command: Command<'RecordCleanupFailure'>, state: ProvisioningState): Events => {
  const { attempt, fault, jitter, at } = command;
  if (!current(state, attempt)) return [];
  const nextAttemptAt = retryAt(state.attempts, fault, at, jitter);
  const { error, transient } = fault;
  const data = { ...ofJob(state), attempt, error, transient, ...(nextAttemptAt !== undefined && { nextAttemptAt }) };
  return [{ type: 'ProvisioningCompensationFailed', data }];
};

/** Decides on the removal of what a failed job has left at the providers: the project first, then the repository. */
export const decideCleanup = (command: AnyCommand & CleanupCommand, state: ProvisioningState): Events | Refusal => {
  switch (command.type) {
    case 'RequestCompensation':
      return request(command, state);
    case 'StartCleanup':
      return start(command, state);
    case 'RenewCleanupLease':
      return renew(command, state);
    case 'RecordRemoval':
      return recordRemoval(command, state);
    case 'RecordCleanupFailure':
      return recordFailure(command, state);
    default:
      return command satisfies never;
  }
};
