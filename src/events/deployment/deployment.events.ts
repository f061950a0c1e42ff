import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const ofRedeploy = { redeployId: Type.String(), websiteId: Type.String() };

/** Stream `redeploy-<id>`: one wish to have a website built anew, and what came of it. How the building goes, the provider tells. */
export const redeployEvents = {
  RedeployRequested: event(Type.Object({ ...ofRedeploy, provider: Type.String(), projectId: Type.String() })),
  /** The provider has begun it, under this id of its own. */
  RedeployStarted: event(Type.Object({ ...ofRedeploy, deploymentId: Type.String() })),
  /** The provider, asked when it was certain to be over, knew of none. */
  RedeployNotStarted: event(Type.Object({ ...ofRedeploy, reason: Type.String() })),
};

export type RedeployEvent = EventOf<typeof redeployEvents>;
