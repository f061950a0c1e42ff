import type { AnyCommand, Decider, Untimed } from '../../commands/decider.js';
import type { RedeployEvent } from '../../events/deployment/deployment.events.js';
import { redeployStream } from '../../events/deployment/deployment.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** `requested`: it is unknown whether the provider has begun it. */
export interface RedeployState {
  readonly stage: 'none' | 'requested' | 'started' | 'notStarted';
}

export type RedeployCommand = AnyCommand & { readonly redeployId: string; readonly websiteId: string } & (
    | { readonly type: 'RequestRedeploy'; readonly provider: string; readonly projectId: string }
    | { readonly type: 'RecordStart'; readonly deploymentId: string; readonly failed?: boolean }
    | { readonly type: 'RecordNoStart'; readonly reason: string }
  );

const evolve = (_: RedeployState, event: RedeployEvent): RedeployState => {
  switch (event.type) {
    case 'RedeployRequested':
      return { stage: 'requested' };
    case 'RedeployStarted':
      return { stage: 'started' };
    case 'RedeployNotStarted':
      return { stage: 'notStarted' };
  }
};

const decide = (command: RedeployCommand, { stage }: RedeployState): readonly RedeployEvent[] => {
  const { redeployId, websiteId } = command;
  const redeploy = { redeployId, websiteId };
  switch (command.type) {
    case 'RequestRedeploy': {
      const { provider, projectId } = command;
      return stage === 'none' ? [{ type: 'RedeployRequested', data: { ...redeploy, provider, projectId } }] : [];
    }
    case 'RecordStart': {
      const { deploymentId, failed } = command;
      // Also after `notStarted`: the request may have been repeated with its key since.
      if (stage === 'none' || stage === 'started') return [];
      return [{ type: 'RedeployStarted', data: { ...redeploy, deploymentId, ...(failed === true && { failed }) } }];
    }
    case 'RecordNoStart':
      return stage === 'requested' ? [{ type: 'RedeployNotStarted', data: { ...redeploy, reason: command.reason } }] : [];
    default:
      return command satisfies never;
  }
};

export const redeployFold: StreamFold<RedeployState, RedeployEvent, { readonly redeployId: string }> = {
  name: 'redeploy',
  stream: redeployStream,
  initialState: { stage: 'none' },
  evolve,
};

/**
 * Stream `redeploy-<id>`. The request itself starts the deployment at the provider; if it is
 * interrupted, a worker finds out the outcome.
 */
export const redeployProcess: Decider<RedeployState, RedeployCommand, RedeployEvent> = { ...redeployFold, decide };

/** What to record once the provider has begun this deployment. */
export const commandAfterStart = (
  { redeployId, websiteId }: { readonly redeployId: string; readonly websiteId: string },
  { id: deploymentId, status }: { readonly id: string; readonly status: 'building' | 'ready' | 'failed' },
): Untimed<Extract<RedeployCommand, { type: 'RecordStart' }>> => ({
  type: 'RecordStart',
  redeployId,
  websiteId,
  deploymentId,
  ...(status === 'failed' && { failed: true }),
});

/** Stored with the deployment at the provider, so that it can be found and is not begun twice. */
export const redeployMarker = (redeployId: string): string => `redeploy-${redeployId}`;
