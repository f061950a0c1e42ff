import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const ofRedeploy = { redeployId: Type.String(), websiteId: Type.String() };

/**
 * Stream `redeploy-<id>`: one request to build a website again, and its outcome. The progress of
 * the build is the provider's to report.
 */
export const redeployEvents = {
  RedeployRequested: event(Type.Object({ ...ofRedeploy, provider: Type.String(), projectId: Type.String() })),
  /** The provider has begun it, under this id of its own. */
  RedeployStarted: event(Type.Object({ ...ofRedeploy, deploymentId: Type.String() })),
  /** The provider, asked after any attempt had to be over, knew of no deployment. */
  RedeployNotStarted: event(Type.Object({ ...ofRedeploy, reason: Type.String() })),
};

export type RedeployEvent = EventOf<typeof redeployEvents>;
