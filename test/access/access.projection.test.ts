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

const access = (links: readonly LinkEntry[], invitations: readonly InvitationEntry[] = []): AccessDocument => ({
  websiteId,
  linkedClientIds: links.map(({ clientId }) => clientId),
  invitedEmails: invitations.filter(({ status }) => status === 'pending').map(({ email }) => email),
  links,
  invitations,
});

const anna: LinkEntry = { clientId: 'anna', role: 'viewer', createdAt: earlier };
const berta: LinkEntry = { clientId: 'berta', role: 'editor', createdAt: now };

const pending: InvitationEntry = {
  id: 'i1',
  kind: 'client_access',
  status: 'pending',
  email: 'anna@example.com',
  role: 'viewer',
  createdAt: earlier,
  expiresAt: '2026-01-31T00:00:00.000Z',
  sentAt: earlier,
};
const transfer: InvitationEntry = {
  id: 'i2',
  kind: 'ownership_transfer',
  status: 'pending',
  email: 'berta@example.com',
  createdAt: now,
  expiresAt: '2026-02-01T00:00:00.000Z',
  sentAt: now,
};

const issued = {
  websiteId,
  invitationId: 'i1',
  kind: 'client_access',
  email: 'anna@example.com',
  role: 'viewer',
  expiresAt: pending.expiresAt,
  sendMail: true,
} as const;

const renewedUntil = '2026-02-28T00:00:00.000Z';

describeProjection(accessProjection, [accessEvents], {
  ClientLinked: [
    {
      shows: 'the first',
      when: { websiteId, clientId: 'anna', role: 'viewer' },
      then: access([{ ...anna, createdAt: happened }]),
    },
    {
      shows: 'another one, after those before',
      given: access([anna], [pending]),
      when: { websiteId, clientId: 'berta', role: 'editor' },
      then: access([anna, { ...berta, createdAt: happened }], [pending]),
    },
    {
      shows: 'one who is linked already, once',
      given: access([anna, berta]),
      when: { websiteId, clientId: 'anna', role: 'editor' },
      then: access([berta, { clientId: 'anna', role: 'editor', createdAt: happened }]),
    },
  ],
  ClientLinkRoleChanged: [
    {
      given: access([anna, berta]),
      when: { websiteId, clientId: 'anna', role: 'editor', previousRole: 'viewer' },
      then: access([{ ...anna, role: 'editor' }, berta]),
    },
    {
      shows: 'of one who is not linked gives no access',
      given: access([berta]),
      when: { websiteId, clientId: 'anna', role: 'editor', previousRole: 'viewer' },
      then: access([berta]),
    },
  ],
  ClientUnlinked: [
    { given: access([anna, berta], [pending]), when: { websiteId, clientId: 'anna' }, then: access([berta], [pending]) },
    { shows: 'twice', given: access([berta]), when: { websiteId, clientId: 'anna' }, then: access([berta]) },
  ],
  InvitationIssued: [
    {
      shows: 'to a client, with the role',
      given: access([berta], [transfer]),
      when: issued,
      then: access([berta], [transfer, { ...pending, createdAt: happened, sentAt: happened }]),
    },
    {
      shows: 'for a transfer, without one',
      when: {
        websiteId,
        invitationId: 'i2',
        kind: 'ownership_transfer',
        email: 'berta@example.com',
        expiresAt: transfer.expiresAt,
        sendMail: false,
      },
      then: access([], [{ ...transfer, createdAt: happened, sentAt: happened }]),
    },
  ],
  InvitationRenewed: [
    {
      shows: 'with another role',
      given: access([], [transfer, pending]),
      when: { ...issued, role: 'editor', expiresAt: renewedUntil },
      then: access([], [transfer, { ...pending, role: 'editor', expiresAt: renewedUntil, sentAt: happened }]),
    },
    {
      shows: 'without a role keeps what there was',
      given: access([], [transfer]),
      when: {
        websiteId,
        invitationId: 'i2',
        kind: 'ownership_transfer',
        email: 'berta@example.com',
        expiresAt: renewedUntil,
        sendMail: false,
      },
      then: access([], [{ ...transfer, expiresAt: renewedUntil, sentAt: happened }]),
    },
  ],
  InvitationAccepted: [
    {
      shows: 'by the person invited',
      given: access([anna], [pending, transfer]),
      when: { websiteId, invitationId: 'i1', clientId: 'anna', subject: 's1' },
      then: access([anna], [{ ...pending, status: 'accepted', clientId: 'anna' }, transfer]),
    },
    {
      shows: 'because the client was added directly',
      given: access([anna], [pending]),
      when: { websiteId, invitationId: 'i1', clientId: 'anna' },
      then: access([anna], [{ ...pending, status: 'accepted', clientId: 'anna' }]),
    },
  ],
  InvitationRevoked: [
    {
      given: access([anna], [pending, transfer]),
      when: { websiteId, invitationId: 'i1' },
      then: access([anna], [{ ...pending, status: 'revoked' }, transfer]),
    },
  ],
});
