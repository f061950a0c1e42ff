import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import {
  leftovers,
  stepIds,
  type Leftover,
  type ProvisioningEvent,
  type StepId,
  type StepOutputs,
} from './provisioning.events.js';
import { provisioningStream } from './provisioning.stream.js';
import { attemptFailed, attemptStarted, leaseRenewed, noAttempts, noAttemptsSince, type Attempts } from '../attempts.js';

/** What a website is made from. */
export interface ProvisioningRequest {
  readonly jobId: string;
  readonly websiteId: string;
  readonly name: string;
  /** The website's when it was created, or at the last retry before the site's variables were set. */
  readonly slug: string;
  readonly templateId: string;
  readonly brandColor?: string;
  /** Usernames on the source host. */
  readonly collaborators: readonly string[];
  /** When the website was created, ISO 8601. */
  readonly createdAt: string;
}

export interface Job {
  readonly request: ProvisioningRequest;
  /**
   * Under which its repository and its project may be at the providers: every slug that it has used,
   * the last one first.
   */
  readonly names: readonly string[];
  readonly outputs: Partial<StepOutputs>;
  /** The step that is under way, comes next, or failed. */
  readonly step: StepId;
  /**
   * Attempts at that step, or at the compensation; failures and the deadline start again in each
   * run.
   */
  readonly attempts: Attempts;
  /**
   * The highest number of an attempt. A compensation goes on from it, so that a late outcome of an
   * earlier one is not taken for its own.
   */
  readonly highest: number;
  /** Counts from 1; a retry begins the next. */
  readonly run: number;
  /** The request that created the website; the events of the process carry its id. */
  readonly requestId: string;
  readonly correlationId: string;
}

export type OpenJob = Job & { readonly stage: 'open' };

/** A failed job whose leftovers are being removed. */
export type JobInCompensation = Job & { readonly stage: 'compensating'; readonly removed: readonly Leftover[] };

/** Every step is done, which nothing undoes; the website is still to become active. */
export type VerifiedJob = Job & { readonly stage: 'verified' };

export type ProvisioningState =
  | { readonly stage: 'none' }
  | OpenJob
  | VerifiedJob
  | JobInCompensation
  | (Job & { readonly stage: 'failed' })
  | { readonly stage: 'succeeded'; readonly request: ProvisioningRequest };

export const ofJob = ({ request: { jobId, websiteId } }: Job): { readonly jobId: string; readonly websiteId: string } => ({
  jobId,
  websiteId,
});

export const stepAfter = (step: StepId): StepId | undefined => stepIds[stepIds.indexOf(step) + 1];

/** What is still to be removed, in this order. */
export const leftoversOf = ({ removed }: JobInCompensation): readonly Leftover[] =>
  leftovers.filter((leftover) => !removed.includes(leftover));

const freshAttempts = ({ highest }: Job) => ({ attempts: noAttemptsSince(highest) });

/**
 * Without the repository every step runs again; without the project, the steps from its creation
 * on.
 */
const withoutRemoved = ({ outputs, step }: Job, removed: readonly Leftover[]): Pick<Job, 'outputs' | 'step'> => {
  if (removed.length === 0) return { outputs, step };
  const from = removed.includes('repository') ? 0 : Math.min(stepIds.indexOf('vercel_create_project'), stepIds.indexOf(step));
  const remaining = stepIds.slice(0, from).map((id) => [id, outputs[id]]);
  return { outputs: Object.fromEntries(remaining) as Job['outputs'], step: stepIds[from] ?? step };
};

type CompensationEvent = Extract<ProvisioningEvent, { type: `Provisioning${'Compensat' | 'Leftover'}${string}` }>;

const evolveCompensation = (state: Extract<ProvisioningState, Job>, event: Recorded<CompensationEvent>): ProvisioningState => {
  if (event.type === 'ProvisioningCompensationRequested') {
    return { ...state, ...freshAttempts(state), stage: 'compensating', removed: [] };
  }
  if (state.stage !== 'compensating') return state;
  const { removed, ...job } = state;
  switch (event.type) {
    case 'ProvisioningCompensationStarted': {
      const highest = Math.max(state.highest, event.data.attempt);
      return { ...state, highest, attempts: attemptStarted(state.attempts, event) };
    }
    case 'ProvisioningCompensationLeaseRenewed':
      return { ...state, attempts: leaseRenewed(state.attempts, event) };
    case 'ProvisioningLeftoverRemoved':
      return { ...state, removed: [...removed, event.data.what] };
    case 'ProvisioningCompensationFailed':
      // Given up: the other leftovers still exist, and a retry continues with the failed step if
      // possible.
      return event.data.nextAttemptAt === undefined
        ? { ...job, ...freshAttempts(job), ...withoutRemoved(job, removed), stage: 'failed' }
        : { ...state, attempts: attemptFailed(state.attempts, event) };
    case 'ProvisioningCompensated':
      return { ...job, ...freshAttempts(job), ...withoutRemoved(job, leftovers), stage: 'failed' };
  }
};

const evolve = (state: ProvisioningState, event: Recorded<ProvisioningEvent>): ProvisioningState => {
  if (event.type === 'ProvisioningQueued') {
    const { requestId, correlationId } = event.metadata;
    const begun = { names: [event.data.slug], outputs: {}, step: stepIds[0], attempts: noAttempts, highest: 0, run: 1 };
    return { stage: 'open', request: event.data, ...begun, requestId, correlationId };
  }
  if (state.stage === 'none' || state.stage === 'succeeded') return state;
  const { attempts } = state;
  switch (event.type) {
    case 'ProvisioningStepStarted': {
      const { step, attempt } = event.data;
      return { ...state, step, attempts: attemptStarted(attempts, event), highest: Math.max(state.highest, attempt) };
    }
    case 'ProvisioningLeaseRenewed':
      return { ...state, attempts: leaseRenewed(attempts, event) };
    case 'ProvisioningStepSucceeded': {
      const { step, output } = event.data;
      const outputs: Partial<StepOutputs> = { ...state.outputs, [step]: output };
      const next = stepAfter(step);
      if (next === undefined) return { ...state, stage: 'verified', outputs };
      return { ...state, outputs, step: next, attempts: noAttempts };
    }
    case 'ProvisioningRequestsAnswered':
      return state;
    case 'ProvisioningStepFailed':
      return { ...state, attempts: attemptFailed(attempts, event) };
    case 'ProvisioningFailed':
      return { ...state, stage: 'failed' };
    case 'ProvisioningRetried': {
      const { run, collaborators = state.request.collaborators } = event.data;
      // Once the variables are set, the site is built with the slug in them: the website's own takes over when it is active.
      const isSet = state.outputs.vercel_set_env_vars !== undefined;
      const slug = isSet ? state.request.slug : (event.data.slug ?? state.request.slug);
      const request = { ...state.request, slug, collaborators };
      const names = [slug, ...state.names.filter((name) => name !== slug)];
      return { ...state, request, names, stage: 'open', attempts: noAttemptsSince(attempts.attempt), run };
    }
    case 'ProvisioningSucceeded':
      return { stage: 'succeeded', request: state.request };
    default:
      return evolveCompensation(state, event);
  }
};

/** Stream `provisioning-<jobId>`. */
export const provisioningFold: StreamFold<ProvisioningState, ProvisioningEvent, { readonly jobId: string }> = {
  name: 'provisioning',
  stream: provisioningStream,
  initialState: { stage: 'none' },
  evolve,
};
