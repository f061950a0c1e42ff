import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { DeploymentLeaseEvent } from '../../events/deployment/deploymentLease.events.js';
import { deploymentLeaseStream } from '../../events/deployment/deploymentLease.stream.js';
import type { Recorded } from '../../events/envelope.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptStarted, isUnderWay, leaseRenewed, noAttempts, noAttemptsSince, type Attempts } from '../../events/attempts.js';
import { decideRenewal, decideStart, type LeaseCommand } from '../lease.js';

export interface DeploymentLeaseState {
  readonly attempts: Attempts;
}

export type ReleaseLease = { readonly type: 'ReleaseLease' };

/** Commands that come late, twice, or of an attempt that is no longer the current one change nothing. */
export type DeploymentLeaseCommand = AnyCommand & { readonly websiteId: string; readonly attempt: number } & (
    Exclude<LeaseCommand, { type: 'RecordFailure' }> | ReleaseLease
  );

const evolve = ({ attempts }: DeploymentLeaseState, event: Recorded<DeploymentLeaseEvent>): DeploymentLeaseState => {
  switch (event.type) {
    case 'DeploymentLeaseAcquired':
      return { attempts: attemptStarted(attempts, event) };
    case 'DeploymentLeaseRenewed':
      return { attempts: leaseRenewed(attempts, event) };
    case 'DeploymentLeaseReleased':
      return { attempts: noAttemptsSince(attempts.attempt) };
  }
};

const decide = (command: DeploymentLeaseCommand, { attempts }: DeploymentLeaseState): readonly DeploymentLeaseEvent[] => {
  const { websiteId, attempt } = command;
  switch (command.type) {
    case 'StartAttempt':
      return decideStart(attempts, command, (lease) => [{ type: 'DeploymentLeaseAcquired', data: { websiteId, ...lease } }]);
    case 'RenewLease':
      return decideRenewal(attempts, command, (lease) => [{ type: 'DeploymentLeaseRenewed', data: { websiteId, ...lease } }]);
    case 'ReleaseLease':
      return isUnderWay(attempts, attempt) ? [{ type: 'DeploymentLeaseReleased', data: { websiteId, attempt } }] : [];
    default:
      return command satisfies never;
  }
};

const free: DeploymentLeaseState = { attempts: noAttempts };

export const deploymentLeaseFold: StreamFold<DeploymentLeaseState, DeploymentLeaseEvent, { readonly websiteId: string }> = {
  name: 'deployment-lease',
  stream: deploymentLeaseStream,
  initialState: free,
  droppedState: free,
  snapshotVersion: 2,
  evolve,
};

/** Stream `deployment-lease-<websiteId>`. The stream is the lock. */
export const deploymentLeaseProcess: Decider<DeploymentLeaseState, DeploymentLeaseCommand, DeploymentLeaseEvent> = {
  ...deploymentLeaseFold,
  decide,
};
