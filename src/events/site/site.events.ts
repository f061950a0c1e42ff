import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';
import { siteValues } from '../website/siteValues.js';

const ofSite = { websiteId: Type.String() };
const ofAttempt = { ...ofSite, attempt: Attempt };

/**
 * Stream `site-<websiteId>`: how changes of a website reach its site: the variables at the hosting
 * provider, and the deployments that were asked for with a change.
 */
export const siteEvents = {
  /** Built and served once the variables are set; the marker of the deployment has this id. */
  SiteRedeployQueued: event(Type.Object({ ...ofSite, redeployId: Type.String() })),
  /** An update that was given up is to be tried again. */
  SiteUpdateReopened: event(Type.Object(ofSite)),
  SiteUpdateStarted: event(Type.Object({ ...ofSite, ...leaseStart })),
  SiteUpdateLeaseRenewed: event(Type.Object({ ...ofSite, ...leaseRenewal })),
  /** What the variables at the hosting provider say from now on. */
  SiteVariablesSet: event(Type.Object({ ...ofAttempt, ...siteValues })),
  /** Whether the hosting provider serves the site from now on: an archived website's is served to nobody. */
  SiteServingChanged: event(Type.Object({ ...ofAttempt, isServed: Type.Boolean() })),
  SiteRedeployed: event(Type.Object({ ...ofAttempt, redeployId: Type.String(), deploymentId: Type.String() })),
  /** It is given up; those that are queued behind it are made. */
  SiteRedeployFailed: event(
    Type.Object({ ...ofAttempt, redeployId: Type.String(), error: Type.String(), transient: Type.Boolean() }),
  ),
  /** After the last attempt no deployment is queued any more. */
  SiteUpdateFailed: event(Type.Object({ ...ofSite, ...attemptFailure })),
};

export type SiteEvent = EventOf<typeof siteEvents>;
