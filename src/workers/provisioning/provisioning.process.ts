import type { Decider } from '../../commands/decider.js';
import { refusals, type Refusal } from '../../commands/refusal.js';
import type { Recorded } from '../../events/envelope.js';
import { stepIds, type ProvisioningEvent, type StepId, type StepOutputs } from '../../events/provisioning/provisioning.events.js';
import { failed, isUnderWay, leaseFrom, mayStart, noAttempts, renewed, retryAt, started, type Attempts } from '../attempts.js';
import { decideCleanup, evolveCleanup } from './provisioning.compensation.js';
import {
  ofJob,
  type Job,
  type OfAttempt,
  type OpenJob,
  type ProvisioningCommand,
  type ProvisioningState,
} from './provisioning.commands.js';
import { provisioningStream } from '../../events/provisioning/provisioning.stream.js';
import type { StreamFold } from '../../events/fold.js';

type Command<Type extends ProvisioningCommand['type']> = Extract<ProvisioningCommand, { type: Type }>;
type Events = readonly ProvisioningEvent[];

/**
 * From its first attempt in a run, a step has this long. It ends what nothing else does: workers that die in it again and again, a
 * provider that asks to wait for days. Long enough to outlast a night without a worker.
 */
export const STEP_DEADLINE_MS = 24 * 3_600_000;

const initialState: ProvisioningState = { stage: 'none' };

const evolve = (state: ProvisioningState, event: Recorded<ProvisioningEvent>): ProvisioningState => {
  if (event.type === 'ProvisioningQueued') {
    const { requestId, correlationId } = event.metadata;
    const begun = { outputs: {}, step: stepIds[0], attempts: noAttempts, highest: 0, run: 1 };
    return { stage: 'open', request: event.data, ...begun, requestId, correlationId };
  }
  if (state.stage === 'none' || state.stage === 'succeeded') return state;
  const { attempts } = state;
  switch (event.type) {
    case 'ProvisioningStepStarted':
      return {
        ...state,
        step: event.data.step,
        attempts: started(attempts, event),
        highest: Math.max(state.highest, event.data.attempt),
      };
    case 'ProvisioningLeaseRenewed':
      return { ...state, attempts: renewed(attempts, event) };
    case 'ProvisioningStepSucceeded': {
      const { step, output } = event.data;
      const outputs: Partial<StepOutputs> = { ...state.outputs, [step]: output };
      return { ...state, outputs, step: stepAfter(step) ?? step, attempts: noAttempts };
    }
    case 'ProvisioningStepFailed':
      return { ...state, attempts: failed(attempts, event) };
    case 'ProvisioningFailed':
      return { ...state, stage: 'failed' };
    case 'ProvisioningRetried':
      return { ...state, stage: 'open', attempts: { ...noAttempts, attempt: attempts.attempt }, run: event.data.run };
    case 'ProvisioningSucceeded':
      return { stage: 'succeeded', request: state.request };
    default:
      return evolveCleanup(state, event);
  }
};

const stepAfter = (step: StepId): StepId | undefined => stepIds[stepIds.indexOf(step) + 1];

/** Whether `step` and `attempt` name the attempt that is under way. */
const isCurrent = (state: ProvisioningState, { step, attempt }: OfAttempt): state is OpenJob =>
  state.stage === 'open' && state.step === step && isUnderWay(state.attempts, attempt);

const startEvent = (state: Job, step: StepId, attempt: number, worker: string, at: string): ProvisioningEvent => ({
  type: 'ProvisioningStepStarted',
  data: { ...ofJob(state), step, attempt, worker, leaseUntil: leaseFrom(at) },
});

const failEvent = (state: Job, why: string): ProvisioningEvent => ({
  type: 'ProvisioningFailed',
  data: { ...ofJob(state), step: state.step, reason: `${state.step}: ${why}` },
});

const isPastDeadline = ({ firstAt }: Attempts, at: string): boolean =>
  firstAt !== undefined && Date.parse(at) > Date.parse(firstAt) + STEP_DEADLINE_MS;

const queue = ({ request }: Command<'QueueProvisioning'>, state: ProvisioningState): Events =>
  state.stage === 'none' ? [{ type: 'ProvisioningQueued', data: { ...request, collaborators: [...request.collaborators] } }] : [];

const startStep = (command: Command<'StartStep'>, state: ProvisioningState): Events => {
  const { step, attempt, worker, at } = command;
  if (state.stage !== 'open' || state.step !== step || !mayStart(state.attempts, command)) return [];
  if (isPastDeadline(state.attempts, at))
    return [failEvent(state, `Not finished within ${String(STEP_DEADLINE_MS / 3_600_000)} hours`)];
  return [startEvent(state, step, attempt, worker, at)];
};

const renewLease = (command: Command<'RenewLease'>, state: ProvisioningState): Events => {
  if (!isCurrent(state, command) || state.attempts.lease?.token !== command.lease) return [];
  const { step, attempt, at } = command;
  return [{ type: 'ProvisioningLeaseRenewed', data: { ...ofJob(state), step, attempt, leaseUntil: leaseFrom(at) } }];
};

const recordSuccess = (command: Command<'RecordSuccess'>, state: ProvisioningState): Events => {
  const { result, attempt, nextWorker, at } = command;
  if (!isCurrent(state, { step: result.step, attempt })) return [];
  const success: ProvisioningEvent = { type: 'ProvisioningStepSucceeded', data: { ...ofJob(state), attempt, ...result } };
  const next = stepAfter(result.step);
  if (next === undefined) return [success, { type: 'ProvisioningSucceeded', data: ofJob(state) }];
  return nextWorker === undefined ? [success] : [success, startEvent(state, next, 1, nextWorker, at)];
};

const recordFailure = (command: Command<'RecordFailure'>, state: ProvisioningState): Events => {
  if (!isCurrent(state, command)) return [];
  const { step, attempt, fault, jitter, at } = command;
  const again = retryAt(state.attempts, fault, at, jitter);
  const nextAttemptAt = again !== undefined && isPastDeadline(state.attempts, again) ? undefined : again;
  const { error, transient } = fault;
  const failure: ProvisioningEvent = {
    type: 'ProvisioningStepFailed',
    data: { ...ofJob(state), step, attempt, error, transient, ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
  };
  return nextAttemptAt === undefined ? [failure, failEvent(state, error)] : [failure];
};

const retry = ({ websiteId }: Command<'RetryProvisioning'>, state: ProvisioningState): Events | Refusal => {
  if (state.stage === 'cleaning') return refusals.provisioningInCompensation(websiteId);
  if (state.stage === 'failed')
    return [{ type: 'ProvisioningRetried', data: { ...ofJob(state), step: state.step, run: state.run + 1 } }];
  // Asked twice, and the new run has not begun yet: that is what was asked for.
  const isRetried = state.stage === 'open' && state.run > 1 && state.attempts.attempt > 0 && state.attempts.firstAt === undefined;
  return isRetried ? [] : refusals.provisioningNotFailed(websiteId);
};

const decide = (command: ProvisioningCommand, state: ProvisioningState): Events | Refusal => {
  switch (command.type) {
    case 'QueueProvisioning':
      return queue(command, state);
    case 'StartStep':
      return startStep(command, state);
    case 'RenewLease':
      return renewLease(command, state);
    case 'RecordSuccess':
      return recordSuccess(command, state);
    case 'RecordFailure':
      return recordFailure(command, state);
    case 'RetryProvisioning':
      return retry(command, state);
    default:
      return decideCleanup(command, state);
  }
};

export const provisioningFold: StreamFold<ProvisioningState, ProvisioningEvent, { readonly jobId: string }> = {
  name: 'provisioning',
  stream: provisioningStream,
  initialState,
  evolve,
};

/** Stream `provisioning-<jobId>`: the saga that builds a website. The stream is the lock: who appends the start runs the step. */
export const provisioningProcess: Decider<ProvisioningState, ProvisioningCommand, ProvisioningEvent> = {
  ...provisioningFold,
  decide,
};
