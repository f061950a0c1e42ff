import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const Time = Type.String({ format: 'date-time' });
const ofAttempt = { websiteId: Type.String(), attempt: Type.Integer({ minimum: 1 }) };

/** Stream `deployment-lease-<websiteId>`: which process may begin a deployment of the website. */
export const deploymentLeaseEvents = {
  /** The process that appended it holds the lease until `leaseUntil`. */
  DeploymentLeaseAcquired: event(Type.Object({ ...ofAttempt, worker: Type.String(), leaseUntil: Time })),
  DeploymentLeaseRenewed: event(Type.Object({ ...ofAttempt, leaseUntil: Time })),
  DeploymentLeaseReleased: event(Type.Object(ofAttempt)),
};

export type DeploymentLeaseEvent = EventOf<typeof deploymentLeaseEvents>;
