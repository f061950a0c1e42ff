import type { Decider } from '../../commands/decider.js';
import { refusals, type Refusal } from '../../commands/refusal.js';
import type { AnsweredRequest, ProvisioningEvent, StepId } from '../../events/provisioning/provisioning.events.js';
import { isUnderWay, type Attempts } from '../../events/attempts.js';
import { decideFailure, decideRenewal, decideStart, retryFor, startOf } from '../lease.js';
import type { ProvisioningCommand } from './provisioning.commands.js';
import {
  ofJob,
  provisioningFold,
  stepAfter,
  type Job,
  type OpenJob,
  type ProvisioningState,
} from '../../events/provisioning/provisioning.state.js';

type Command<Type extends ProvisioningCommand['type']> = Extract<ProvisioningCommand, { type: Type }>;
type Events = readonly ProvisioningEvent[];

/**
 * How long a step is retried in a run after transient faults (api.md, "ProvisioningJob"), and what
 * a failed run left behind is tried to be removed.
 */
export const STEP_RETRY_MS = 15 * 60_000;

/**
 * How long a step may take in a run, from its first attempt. It ends steps in which workers die
 * again and again, because these report no fault. It is long enough for a night without a worker.
 */
const STEP_DEADLINE_MS = 24 * 3_600_000;

/** Those of an attempt that the log keeps. A step sends fewer, unless it is to invite many people. */
const MAX_REQUESTS = 50;

const isPastDeadline = ({ firstAt }: Attempts, at: string): boolean =>
  firstAt !== undefined && Date.parse(at) > Date.parse(firstAt) + STEP_DEADLINE_MS;

const isAt = (state: ProvisioningState, step: StepId, { run }: { readonly run: number }): state is OpenJob =>
  state.stage === 'open' && state.run === run && state.step === step;

const started = (job: Job, step: StepId, by: Parameters<typeof startOf>[0]): ProvisioningEvent => ({
  type: 'ProvisioningStepStarted',
  data: { ...ofJob(job), step, ...startOf(by) },
});

const failed = (job: Job, why: string): ProvisioningEvent => ({
  type: 'ProvisioningFailed',
  data: { ...ofJob(job), step: job.step, reason: `${job.step}: ${why}` },
});

const queue = ({ request }: Command<'QueueProvisioning'>, state: ProvisioningState): Events =>
  state.stage === 'none' ? [{ type: 'ProvisioningQueued', data: { ...request, collaborators: [...request.collaborators] } }] : [];

const startStep = (command: Command<'StartAttempt'>, state: ProvisioningState): Events => {
  const { step, at } = command;
  if (!isAt(state, step, command)) return [];
  return decideStart(state.attempts, command, () =>
    isPastDeadline(state.attempts, at)
      ? [failed(state, `Not finished within ${String(STEP_DEADLINE_MS / 3_600_000)} hours`)]
      : [started(state, step, command)],
  );
};

const renewLease = (command: Command<'RenewLease'>, state: ProvisioningState): Events => {
  const { step } = command;
  if (!isAt(state, step, command)) return [];
  return decideRenewal(state.attempts, command, (lease) => [
    { type: 'ProvisioningLeaseRenewed', data: { ...ofJob(state), step, ...lease } },
  ]);
};

const answered = (
  job: Job,
  step: StepId,
  { attempt, requests = [] }: { readonly attempt: number; readonly requests?: readonly AnsweredRequest[] },
): Events => {
  const kept = requests.filter(({ method }, index) => method !== 'GET' || index === requests.length - 1).slice(-MAX_REQUESTS);
  if (kept.length === 0) return [];
  return [{ type: 'ProvisioningRequestsAnswered', data: { ...ofJob(job), step, attempt, requests: kept } }];
};

const recordSuccess = (command: Command<'RecordSuccess'>, state: ProvisioningState): Events => {
  const { result, attempt, nextWorker: worker, at } = command;
  if (!isAt(state, result.step, command) || !isUnderWay(state.attempts, attempt)) return [];
  const success: ProvisioningEvent = { type: 'ProvisioningStepSucceeded', data: { ...ofJob(state), attempt, ...result } };
  const next = stepAfter(result.step);
  const outcome = [...answered(state, result.step, command), success];
  if (next === undefined || worker === undefined) return outcome;
  return [...outcome, started(state, next, { attempt: 1, worker, at })];
};

const complete = (state: ProvisioningState): Events =>
  state.stage === 'verified' ? [{ type: 'ProvisioningSucceeded', data: ofJob(state) }] : [];

const recordFailure = (command: Command<'RecordFailure'>, state: ProvisioningState): Events => {
  const { step } = command;
  if (!isAt(state, step, command)) return [];
  return decideFailure(
    state.attempts,
    command,
    (failure, isGivenUp) => {
      const failedStep: ProvisioningEvent = { type: 'ProvisioningStepFailed', data: { ...ofJob(state), step, ...failure } };
      const outcome = [...answered(state, step, command), failedStep];
      return isGivenUp ? [...outcome, failed(state, failure.error)] : outcome;
    },
    retryFor(STEP_RETRY_MS),
  );
};

const retry = ({ websiteId, slug, collaborators }: Command<'RetryProvisioning'>, state: ProvisioningState): Events | Refusal => {
  if (state.stage === 'compensating') return refusals.provisioningInCompensation(websiteId);
  if (state.stage === 'failed') {
    if (collaborators !== undefined && state.outputs.github_invite_collaborator !== undefined) {
      return refusals.invalidQuery('collaborators', 'leave it out: they were invited before the step that failed');
    }
    const others = collaborators === undefined ? {} : { collaborators: [...collaborators] };
    return [{ type: 'ProvisioningRetried', data: { ...ofJob(state), step: state.step, run: state.run + 1, slug, ...others } }];
  }
  // A repeated request before the new run has begun changes nothing.
  const isRetried =
    state.stage === 'open' &&
    state.run > 1 &&
    state.attempts.attempt > 0 &&
    state.attempts.firstAt === undefined &&
    (collaborators ?? state.request.collaborators).join() === state.request.collaborators.join();
  return isRetried ? [] : refusals.provisioningNotFailed(websiteId);
};

const requestCompensation = ({ websiteId }: Command<'RequestCompensation'>, state: ProvisioningState): Events | Refusal => {
  if (state.stage === 'compensating') return [];
  if (state.stage !== 'failed') return refusals.provisioningNotFailed(websiteId);
  return [{ type: 'ProvisioningCompensationRequested', data: ofJob(state) }];
};

const decide = (command: ProvisioningCommand, state: ProvisioningState): Events | Refusal => {
  switch (command.type) {
    case 'QueueProvisioning':
      return queue(command, state);
    case 'StartAttempt':
      return startStep(command, state);
    case 'RenewLease':
      return renewLease(command, state);
    case 'RecordSuccess':
      return recordSuccess(command, state);
    case 'RecordFailure':
      return recordFailure(command, state);
    case 'CompleteProvisioning':
      return complete(state);
    case 'RetryProvisioning':
      return retry(command, state);
    case 'RequestCompensation':
      return requestCompensation(command, state);
    default:
      return command satisfies never;
  }
};

/**
 * Stream `provisioning-<jobId>`: the saga that builds a website. The stream is the lock: the worker
 * that appends the start runs the step.
 */
export const provisioningProcess: Decider<ProvisioningState, ProvisioningCommand, ProvisioningEvent> = {
  ...provisioningFold,
  decide,
};
