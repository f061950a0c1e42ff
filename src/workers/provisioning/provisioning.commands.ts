import type { AnyCommand } from '../../commands/decider.js';
import type { AnsweredRequest, Leftover, StepId, StepResult } from '../../events/provisioning/provisioning.events.js';
import type { LeaseCommand, RecordFailure, RenewLease, StartAttempt } from '../lease.js';
import type { ProvisioningRequest } from '../../events/provisioning/provisioning.state.js';

/**
 * Commands that come late, twice, or of an attempt that is no longer the current one change
 * nothing.
 */
export type ProvisioningCommand = AnyCommand & { readonly jobId: string } & ProvisioningInput;

/** The commands, without the job's id. */
export type ProvisioningInput =
  | { readonly type: 'QueueProvisioning'; readonly request: ProvisioningRequest }
  /** The website of a verified job is active. */
  | { readonly type: 'CompleteProvisioning' }
  /** `slug`: the website's of now; `collaborators`: instead of those before, of whom some may be invited. */
  | {
      readonly type: 'RetryProvisioning';
      readonly websiteId: string;
      readonly slug: string;
      readonly collaborators?: readonly string[] | undefined;
    }
  /** What a failed job has made is to be removed. */
  | { readonly type: 'RequestCompensation'; readonly websiteId: string }
  | (StepOutcome & StepAttempt)
  | ((StartAttempt | RenewLease | StepFailure) & StepAttempt & { readonly step: StepId });

/** A run that follows a clean-up counts the attempts at a step anew, so that the number alone names none. */
interface StepAttempt {
  readonly run: number;
  readonly attempt: number;
}

/**
 * `nextWorker` begins the next step in the same append; without it, any worker may begin the step.
 */
export interface StepOutcome {
  readonly type: 'RecordSuccess';
  readonly result: StepResult;
  readonly nextWorker?: string | undefined;
  /** Of the attempt, which providers answered; absent: none. */
  readonly requests?: readonly AnsweredRequest[];
}

export type StepFailure = RecordFailure & Pick<StepOutcome, 'requests'>;

/** What a worker reports about an attempt at a compensation. */
export type CompensationCommand = AnyCommand & { readonly jobId: string } & CompensationInput;
export type CompensationInput = (LeaseCommand | LeftoverRemoval) & { readonly attempt: number };

/** `found` is false when there was none that this job had made; `name` is then the last one that it used. */
export interface LeftoverRemoval {
  readonly type: 'RecordRemoval';
  readonly what: Leftover;
  readonly name: string;
  readonly found: boolean;
}
