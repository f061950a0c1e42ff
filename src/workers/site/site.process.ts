import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { StreamFold } from '../../events/fold.js';
import type { SiteEvent } from '../../events/site/site.events.js';
import { siteStream } from '../../events/site/site.stream.js';
import { areSameValues, siteValuesOf, type SiteValues } from '../../events/website/siteValues.js';
import {
  attemptFailed,
  attemptStarted,
  isUnderWay,
  leaseRenewed,
  noAttempts,
  noAttemptsSince,
  type Attempts,
} from '../../events/attempts.js';
import { decideLease, retryFor, type RecordFailure, type RenewLease, type StartAttempt } from '../lease.js';

export interface SiteState {
  /** What the variables at the hosting provider say; absent: what provisioning set. */
  readonly set?: SiteValues;
  /** Whether the hosting provider serves the site. */
  readonly isServed: boolean;
  /** Ids of the deployments that are to be made, the first one first. */
  readonly queued: readonly string[];
  readonly attempts: Attempts;
  /** The fault of the last attempt, unless a later one got further. */
  readonly lastFault?: { readonly error: string; readonly transient: boolean };
  /** Where in the log the update was given up: nothing is tried until it is reopened. */
  readonly givenUpAt?: bigint;
}

/** Commands that come late, twice, or of an attempt that is no longer the current one change nothing. */
export type SiteCommand = AnyCommand & { readonly websiteId: string } & (
    | { readonly type: 'QueueRedeploy'; readonly redeployId: string }
    /** `position`: of the event that asks for it. Changes nothing when it was given up after that. */
    | { readonly type: 'ReopenUpdate'; readonly position?: bigint }
    | (SiteOutcome & { readonly attempt: number })
  );

export type SiteOutcome =
  | StartAttempt
  | RenewLease
  /** `redeployId`: of the deployment that was being made. */
  | (RecordFailure & { readonly redeployId?: string })
  | { readonly type: 'RecordVariables'; readonly values: SiteValues }
  | { readonly type: 'RecordServing'; readonly isServed: boolean }
  | { readonly type: 'RecordRedeploy'; readonly redeployId: string; readonly deploymentId: string };

const withoutFault = ({ lastFault: _, givenUpAt: __, ...state }: SiteState): SiteState => state;

const freshAttempts = ({ attempts: { attempt } }: SiteState): Attempts => noAttemptsSince(attempt);

/** The variables are set before anything is deployed: without a queue, the attempt has reached its end. */
const endIfDone = (state: SiteState): SiteState =>
  state.queued.length === 0 ? { ...state, attempts: freshAttempts(state) } : state;

const without = (redeployId: string, { queued }: SiteState): SiteState['queued'] => queued.filter((id) => id !== redeployId);

const evolve = (state: SiteState, event: Recorded<SiteEvent>): SiteState => {
  switch (event.type) {
    case 'SiteRedeployQueued':
      return { ...withoutFault(state), queued: [...state.queued, event.data.redeployId] };
    case 'SiteUpdateReopened':
      return withoutFault(state);
    case 'SiteUpdateStarted':
      return { ...state, attempts: attemptStarted(state.attempts, event) };
    case 'SiteUpdateLeaseRenewed':
      return { ...state, attempts: leaseRenewed(state.attempts, event) };
    case 'SiteVariablesSet':
      return endIfDone({ ...withoutFault(state), set: siteValuesOf(event.data) });
    case 'SiteServingChanged':
      // Its attempt does nothing else.
      return { ...withoutFault(state), isServed: event.data.isServed, attempts: freshAttempts(state) };
    case 'SiteRedeployed':
      return endIfDone({ ...withoutFault(state), queued: without(event.data.redeployId, state) });
    case 'SiteRedeployFailed':
      // The next attempt sets the variables of what was changed meanwhile, and makes what is queued.
      return { ...withoutFault(state), queued: without(event.data.redeployId, state), attempts: freshAttempts(state) };
    case 'SiteUpdateFailed': {
      const { error, transient, nextAttemptAt } = event.data;
      const failed = { ...state, lastFault: { error, transient } };
      return nextAttemptAt === undefined
        ? { ...failed, queued: [], attempts: freshAttempts(state), givenUpAt: event.position }
        : { ...failed, attempts: attemptFailed(state.attempts, event) };
    }
  }
};

/** A provider that is down for long is waited for; a change or a redeploy tries again after that. */
const RETRY_MS = 24 * 3_600_000;

const decide = (command: SiteCommand, state: SiteState): readonly SiteEvent[] => {
  const { websiteId } = command;
  const { attempts, queued, givenUpAt } = state;
  switch (command.type) {
    case 'QueueRedeploy': {
      const { redeployId } = command;
      return queued.includes(redeployId) ? [] : [{ type: 'SiteRedeployQueued', data: { websiteId, redeployId } }];
    }
    case 'ReopenUpdate': {
      const isDue = givenUpAt !== undefined && (command.position === undefined || command.position > givenUpAt);
      return isDue ? [{ type: 'SiteUpdateReopened', data: { websiteId } }] : [];
    }
    case 'RecordVariables': {
      const { attempt, values } = command;
      return isUnderWay(attempts, attempt) ? [{ type: 'SiteVariablesSet', data: { websiteId, attempt, ...values } }] : [];
    }
    case 'RecordServing': {
      const { attempt, isServed } = command;
      return isUnderWay(attempts, attempt) ? [{ type: 'SiteServingChanged', data: { websiteId, attempt, isServed } }] : [];
    }
    case 'RecordRedeploy': {
      const { attempt, redeployId, deploymentId } = command;
      if (!isUnderWay(attempts, attempt) || !queued.includes(redeployId)) return [];
      return [{ type: 'SiteRedeployed', data: { websiteId, attempt, redeployId, deploymentId } }];
    }
    default: {
      const redeployId = command.type === 'RecordFailure' ? command.redeployId : undefined;
      return decideLease<SiteEvent>(
        attempts,
        command,
        {
          started: (lease) => [{ type: 'SiteUpdateStarted', data: { websiteId, ...lease } }],
          renewed: (lease) => [{ type: 'SiteUpdateLeaseRenewed', data: { websiteId, ...lease } }],
          failed: (failure, isGivenUp) =>
            isGivenUp && redeployId !== undefined
              ? [{ type: 'SiteRedeployFailed', data: { websiteId, redeployId, ...failure } }]
              : [{ type: 'SiteUpdateFailed', data: { websiteId, ...failure } }],
        },
        retryFor(RETRY_MS),
      );
    }
  }
};

export const siteFold: StreamFold<SiteState, SiteEvent, { readonly websiteId: string }> = {
  name: 'site',
  stream: siteStream,
  initialState: { isServed: true, queued: [], attempts: noAttempts },
  evolve,
};

/**
 * Stream `site-<websiteId>`: brings what the website's stream says to the site's variables, and makes
 * the deployments that were queued with a change. The stream is the lock.
 */
export const siteProcess: Decider<SiteState, SiteCommand, SiteEvent> = { ...siteFold, decide };

/**
 * What to record after a deployment that was built with these values: what the site shows, or that
 * the site's worker waits for a build that goes on. Null: the site shows what it showed.
 */
export const commandAfterDeployment = (
  { id: websiteId, built }: { readonly id: string; readonly built: SiteValues },
  { redeployId, deployment: { id: deploymentId, status }, values }: EndedOrBegun,
):
  | { readonly type: 'RecordDeployment'; readonly websiteId: string; readonly deploymentId: string; readonly values: SiteValues }
  | { readonly type: 'QueueRedeploy'; readonly websiteId: string; readonly redeployId: string }
  | null => {
  if (status === 'failed' || areSameValues(values, built)) return null;
  return status === 'ready'
    ? { type: 'RecordDeployment', websiteId, deploymentId, values }
    : { type: 'QueueRedeploy', websiteId, redeployId };
};

interface EndedOrBegun {
  readonly redeployId: string;
  readonly deployment: { readonly id: string; readonly status: 'building' | 'ready' | 'failed' };
  readonly values: SiteValues;
}
