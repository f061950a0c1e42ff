import { defineStream } from '../defineStream.js';
import { accessEvents } from './access.events.js';

export const accessStream = defineStream({
  category: 'access',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'links and invitations',
  guards: 'claim against revocation: one wins',
  events: accessEvents,
  personal: {
    InvitationIssued: ['email'],
    InvitationRenewed: ['email'],
    InvitationAccepted: ['subject'],
    TransferClaimed: ['subject'],
  },
});
