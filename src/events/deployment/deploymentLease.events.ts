import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, leaseRenewal, leaseStart } from '../fields.js';

const ofWebsite = { websiteId: Type.String() };
const ofAttempt = { ...ofWebsite, attempt: Attempt };

/** Stream `deployment-lease-<websiteId>`: which process may begin a deployment of the website. */
export const deploymentLeaseEvents = {
  DeploymentLeaseAcquired: event(Type.Object({ ...ofWebsite, ...leaseStart })),
  DeploymentLeaseRenewed: event(Type.Object({ ...ofWebsite, ...leaseRenewal })),
  DeploymentLeaseReleased: event(Type.Object(ofAttempt)),
};

export type DeploymentLeaseEvent = EventOf<typeof deploymentLeaseEvents>;
