import { defineStream } from '../defineStream.js';
import { deploymentLeaseEvents } from './deploymentLease.events.js';

export const deploymentLeaseStream = defineStream({
  category: 'deployment-lease',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'which process may begin a deployment of a website',
  guards: 'one deployment of a website is begun at a time',
  events: deploymentLeaseEvents,
  personal: {},
  retention: { days: 30, isEnd: ({ type }) => type === 'DeploymentLeaseReleased' },
});
