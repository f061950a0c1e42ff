import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { siteValues } from '../website/siteValues.js';

const Time = Type.String({ format: 'date-time' });
const ofSite = { websiteId: Type.String() };
const ofAttempt = { ...ofSite, attempt: Type.Integer({ minimum: 1 }) };

/**
 * Stream `site-<websiteId>`: how changes of a website reach its site: the variables at the hosting
 * provider, and the deployments that were asked for with a change.
 */
export const siteEvents = {
  /** Built and served once the variables are set; the marker of the deployment has this id. */
  SiteRedeployQueued: event(Type.Object({ ...ofSite, redeployId: Type.String() })),
  /** An update that was given up is to be tried again. */
  SiteUpdateReopened: event(Type.Object(ofSite)),
  /** The worker that appended it holds the lease until `leaseUntil`. */
  SiteUpdateStarted: event(Type.Object({ ...ofAttempt, worker: Type.String(), leaseUntil: Time })),
  SiteUpdateLeaseRenewed: event(Type.Object({ ...ofAttempt, leaseUntil: Time })),
  /** What the variables at the hosting provider say from now on. */
  SiteVariablesSet: event(Type.Object({ ...ofAttempt, ...siteValues })),
  /** Whether the hosting provider serves the site from now on: an archived website's is served to nobody. */
  SiteServingChanged: event(Type.Object({ ...ofAttempt, isServed: Type.Boolean() })),
  SiteRedeployed: event(Type.Object({ ...ofAttempt, redeployId: Type.String(), deploymentId: Type.String() })),
  /** It is given up; those that are queued behind it are made. */
  SiteRedeployFailed: event(
    Type.Object({ ...ofAttempt, redeployId: Type.String(), error: Type.String(), transient: Type.Boolean() }),
  ),
  /** Without `nextAttemptAt` it is given up, and no deployment is queued any more. */
  SiteUpdateFailed: event(
    Type.Object({ ...ofAttempt, error: Type.String(), transient: Type.Boolean(), nextAttemptAt: Type.Optional(Time) }),
  ),
};

export type SiteEvent = EventOf<typeof siteEvents>;
