import type { AnyCommand } from '../../commands/decider.js';
import type { Leftover, StepId, StepOutputs, StepResult } from '../../events/provisioning/provisioning.events.js';
import type { Attempts, Fault, Token } from '../attempts.js';

/** What a website is made from. */
export interface ProvisioningRequest {
  readonly jobId: string;
  readonly websiteId: string;
  readonly name: string;
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
  readonly outputs: Partial<StepOutputs>;
  /** The step that is under way, comes next, or failed. */
  readonly step: StepId;
  /** Attempts at that step, or at the clean-up; failures and the deadline count anew in each run. */
  readonly attempts: Attempts;
  /** The highest number that an attempt had: a number that comes again after a clean-up would let a late outcome pass for another. */
  readonly highest: number;
  /** Counts from 1; a retry begins the next. */
  readonly run: number;
  /** Of the request that created the website: what the process does is recorded under it. */
  readonly requestId: string;
  readonly correlationId: string;
}

export type OpenJob = Job & { readonly stage: 'open' };

/** A failed job whose leftovers are being removed. */
export type JobInCleanup = Job & { readonly stage: 'cleaning'; readonly removed: readonly Leftover[] };

export type ProvisioningState =
  | { readonly stage: 'none' }
  | OpenJob
  | JobInCleanup
  | (Job & { readonly stage: 'failed' })
  | { readonly stage: 'succeeded'; readonly request: ProvisioningRequest };

/** The one attempt that a worker speaks of. */
export interface OfAttempt {
  readonly step: StepId;
  readonly attempt: number;
}

/** Outcomes that come late, twice, or from a worker whose attempt is no longer the current one change nothing. */
export type ProvisioningCommand = AnyCommand & { readonly jobId: string } & ProvisioningInput;

/** What is asked of a job, without the job. */
export type ProvisioningInput =
  | { readonly type: 'QueueProvisioning'; readonly request: ProvisioningRequest }
  /** `waitedOut`: the obstacle that the worker has waited out (`attempts.ts`). */
  | ({ readonly type: 'StartStep'; readonly worker: string; readonly waitedOut?: Token | undefined } & OfAttempt)
  | ({ readonly type: 'RenewLease'; readonly lease: Token } & OfAttempt)
  /** `nextWorker` begins the next step in the same append; without it, whoever comes first does. */
  | {
      readonly type: 'RecordSuccess';
      readonly result: StepResult;
      readonly attempt: number;
      readonly nextWorker?: string | undefined;
    }
  /** `jitter`: a fraction in [0, 1). */
  | ({ readonly type: 'RecordFailure'; readonly fault: Fault; readonly jitter: number } & OfAttempt)
  | { readonly type: 'RetryProvisioning'; readonly websiteId: string }
  | CleanupCommand;

export type CleanupCommand =
  | { readonly type: 'RequestCompensation'; readonly websiteId: string }
  | {
      readonly type: 'StartCleanup';
      readonly attempt: number;
      readonly worker: string;
      readonly waitedOut?: Token | undefined;
    }
  | { readonly type: 'RenewCleanupLease'; readonly attempt: number; readonly lease: Token }
  | { readonly type: 'RecordRemoval'; readonly attempt: number; readonly what: Leftover; readonly found: boolean }
  | { readonly type: 'RecordCleanupFailure'; readonly attempt: number; readonly fault: Fault; readonly jitter: number };

export const ofJob = ({ request: { jobId, websiteId } }: Job): { readonly jobId: string; readonly websiteId: string } => ({
  jobId,
  websiteId,
});
