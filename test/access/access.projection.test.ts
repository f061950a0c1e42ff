import { accessEvents } from '../../src/events/access/access.events.js';
import {
  accessProjection,
  type AccessDocument,
  type InvitationEntry,
  type LinkEntry,
} from '../../src/projections/access/access.projection.js';
import { earlier, now } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const websiteId = 'w1';
const anna = { websiteId, clientId: 'anna' } as const;

const access = (link: LinkEntry | undefined, ...invitations: readonly InvitationEntry[]): AccessDocument => ({
  ...anna,
  invitations,
  ...(link !== undefined && { link, linkedWebsite: websiteId, linkedClient: 'anna' }),
});
const inviting = { invitingWebsite: websiteId };
const offered = { offeredWebsite: websiteId };

const viewer: LinkEntry = { clientId: 'anna', role: 'viewer', createdAt: earlier };

const pending: InvitationEntry = {
  id: 'i1',
  kind: 'client_access',
  status: 'pending',
  email: 'anna@example.com',
  role: 'viewer',
  createdAt: earlier,
  expiresAt: '2026-01-31T00:00:00.000Z',
  mailRequestedAt: earlier,
};
const transfer: InvitationEntry = {
  id: 'i2',
  kind: 'ownership_transfer',
  status: 'pending',
  email: 'anna@example.com',
  createdAt: now,
  expiresAt: '2026-02-01T00:00:00.000Z',
};

const issued = {
  ...anna,
  invitationId: 'i1',
  kind: 'client_access',
  email: 'anna@example.com',
  role: 'viewer',
  expiresAt: pending.expiresAt,
  sendMail: true,
} as const;
const offer = {
  ...anna,
  invitationId: 'i2',
  kind: 'ownership_transfer',
  email: 'anna@example.com',
  expiresAt: transfer.expiresAt,
  sendMail: false,
} as const;

const renewedUntil = '2026-02-28T00:00:00.000Z';

describeProjection(accessProjection, [accessEvents], {
  ClientLinked: [
    {
      shows: 'the first',
      when: { ...anna, role: 'viewer' },
      then: access({ ...viewer, createdAt: happened }),
    },
    {
      shows: 'beside an invitation',
      given: { ...access(undefined, pending), ...inviting },
      when: { ...anna, role: 'editor' },
      then: { ...access({ clientId: 'anna', role: 'editor', createdAt: happened }, pending), ...inviting },
    },
    {
      shows: 'one who is linked already, once',
      given: access(viewer),
      when: { ...anna, role: 'editor' },
      then: access({ clientId: 'anna', role: 'editor', createdAt: happened }),
    },
  ],
  ClientLinkRoleChanged: [
    {
      given: access(viewer),
      when: { ...anna, role: 'editor', previousRole: 'viewer' },
      then: access({ ...viewer, role: 'editor' }),
    },
    {
      shows: 'of one who is not linked gives no access',
      given: access(undefined),
      when: { ...anna, role: 'editor', previousRole: 'viewer' },
      then: access(undefined),
    },
  ],
  ClientLinkRestored: [
    {
      shows: 'as it was before',
      given: access(undefined),
      when: { ...anna, role: 'editor', linkedAt: earlier },
      then: access({ ...viewer, role: 'editor' }),
    },
  ],
  ClientUnlinked: [
    {
      shows: 'and leaves invitations',
      given: { ...access(viewer, pending), ...inviting },
      when: anna,
      then: { ...access(undefined, pending), ...inviting },
    },
    { shows: 'twice', given: access(undefined), when: anna, then: access(undefined) },
  ],
  InvitationIssued: [
    {
      shows: 'to a client, with the role',
      given: { ...access(undefined, transfer), ...offered },
      when: issued,
      then: {
        ...access(undefined, transfer, { ...pending, createdAt: happened, mailRequestedAt: happened }),
        ...inviting,
        ...offered,
      },
    },
    {
      shows: 'for a transfer, without one',
      when: offer,
      then: { ...access(undefined, { ...transfer, createdAt: happened }), ...offered },
    },
  ],
  InvitationRenewed: [
    {
      shows: 'with another role',
      given: { ...access(undefined, transfer, pending), ...inviting, ...offered },
      when: { ...issued, role: 'editor', expiresAt: renewedUntil },
      then: {
        ...access(undefined, transfer, { ...pending, role: 'editor', expiresAt: renewedUntil, mailRequestedAt: happened }),
        ...inviting,
        ...offered,
      },
    },
    {
      shows: 'without a mail keeps when one was asked for',
      given: { ...access(undefined, { ...transfer, mailRequestedAt: earlier }), ...offered },
      when: { ...offer, expiresAt: renewedUntil },
      then: { ...access(undefined, { ...transfer, expiresAt: renewedUntil, mailRequestedAt: earlier }), ...offered },
    },
    {
      shows: 'without a role keeps what there was',
      given: { ...access(undefined, transfer), ...offered },
      when: { ...offer, expiresAt: renewedUntil },
      then: { ...access(undefined, { ...transfer, expiresAt: renewedUntil }), ...offered },
    },
  ],
  InvitationAccepted: [
    {
      shows: 'by the person invited, and is listed no more',
      given: { ...access(viewer, pending), ...inviting },
      when: { ...anna, invitationId: 'i1', claimedBy: 'anna', subject: 's1' },
      then: access(viewer, { ...pending, status: 'accepted', claimedBy: 'anna' }),
    },
    {
      shows: 'by somebody known by another address, with their client',
      given: { ...access(undefined, pending), ...inviting },
      when: { ...anna, invitationId: 'i1', claimedBy: 'anna-at-work', subject: 's1' },
      then: access(undefined, { ...pending, status: 'accepted', claimedBy: 'anna-at-work' }),
    },
    {
      shows: 'one to another address of the person changes nothing',
      given: access(viewer),
      when: { ...anna, invitationId: 'i9', claimedBy: 'anna' },
      then: access(viewer),
    },
    {
      shows: 'of a transfer is still listed',
      given: { ...access(undefined, transfer), ...offered },
      when: { ...anna, invitationId: 'i2', claimedBy: 'anna' },
      then: { ...access(undefined, { ...transfer, status: 'accepted', claimedBy: 'anna' }), ...offered },
    },
  ],
  InvitationRevoked: [
    {
      shows: 'and is listed no more',
      given: { ...access(viewer, pending, transfer), ...inviting, ...offered },
      when: { ...anna, invitationId: 'i1' },
      then: { ...access(viewer, { ...pending, status: 'revoked' }, transfer), ...offered },
    },
    {
      shows: 'of a transfer likewise',
      given: { ...access(undefined, transfer), ...offered },
      when: { ...anna, invitationId: 'i2' },
      then: access(undefined, { ...transfer, status: 'revoked' }),
    },
  ],
});
