import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { redeployUpcasters } from './deployment.upcasters.js';

const ofRedeploy = { redeployId: Type.String(), websiteId: Type.String() };

/**
 * Stream `redeploy-<id>`: one request to build a website again, and its outcome. The provider
 * reports the progress of the build.
 */
export const redeployEvents = {
  RedeployRequested: event(Type.Object({ ...ofRedeploy, provider: Type.String(), projectId: Type.String() })),
  /** The provider has begun it, under this id of its own. `failed`: its build had failed by then. */
  RedeployStarted: event(
    Type.Object({ ...ofRedeploy, deploymentId: Type.String(), failed: Type.Optional(Type.Boolean()) }),
    redeployUpcasters.RedeployStarted,
  ),
  /** The provider knew of no deployment when asked after every attempt had to be over. */
  RedeployNotStarted: event(Type.Object({ ...ofRedeploy, reason: Type.String() })),
};

export type RedeployEvent = EventOf<typeof redeployEvents>;
