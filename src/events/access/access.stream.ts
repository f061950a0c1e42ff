import { defineStream } from '../defineStream.js';
import { accessEvents } from './access.events.js';

/** One person at one website. */
export interface AccessKey {
  readonly websiteId: string;
  readonly clientId: string;
}

export const accessStream = defineStream({
  category: 'access',
  key: ({ websiteId, clientId }: AccessKey) => `${websiteId}-${clientId}`,
  named: '<websiteId>-<clientId>',
  holds: 'the link and the invitations, to a transfer too, of one person to one website',
  guards: 'claim against revocation: one wins; one link for each client',
  events: accessEvents,
  personal: {
    InvitationIssued: ['email'],
    InvitationRenewed: ['email'],
    InvitationAccepted: ['subject'],
    TransferClaimed: ['subject'],
  },
});

const idLength = 26;

/**
 * An invitation's id ends with its stream's key, so that the id alone leads to the stream, without
 * an index that could lag.
 */
export const invitationIdFor = (unique: string, { websiteId, clientId }: AccessKey): string => `${unique}${websiteId}${clientId}`;

/**
 * The key of the stream that an invitation's id leads to; `null` for an id that no invitation has.
 */
export const keyOfInvitation = (invitationId: string): AccessKey | null =>
  /^[0-9a-z]{78}$/.test(invitationId)
    ? { websiteId: invitationId.slice(idLength, 2 * idLength), clientId: invitationId.slice(2 * idLength) }
    : null;
