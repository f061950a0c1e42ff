import { defineStream } from '../defineStream.js';
import { provisioningEvents } from './provisioning.events.js';

export const provisioningStream = defineStream({
  category: 'provisioning',
  key: ({ jobId }: { readonly jobId: string }) => jobId,
  named: '<jobId>',
  holds: 'the saga: requests, attempts, leases, outcomes, compensation',
  guards: 'one attempt of a step at a time',
  events: provisioningEvents,
  personal: {},
});
