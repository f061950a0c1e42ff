import type { AccessEvent, InvitationKind, LinkRole } from '../../events/access/access.events.js';
import type { Projection } from '../projection.js';
import { accessStream } from '../../events/access/access.stream.js';

/** Links and invitations of one website, in the order in which they came. */
export type AccessDocument = {
  readonly websiteId: string;
  /** Of `links`, for finding the websites of a client. */
  readonly linkedClientIds: readonly string[];
  /** Of pending `invitations`, sealed, for finding those of a person. */
  readonly invitedEmails: readonly string[];
  readonly links: readonly LinkEntry[];
  readonly invitations: readonly InvitationEntry[];
};

export type LinkEntry = { readonly clientId: string; readonly role: LinkRole; readonly createdAt: string };

export type InvitationEntry = {
  readonly id: string;
  readonly kind: InvitationKind;
  /** `expired` is a matter of time, told when it is read. */
  readonly status: 'pending' | 'accepted' | 'revoked';
  /** Sealed (`platform/personal.ts`). */
  readonly email: string;
  readonly role?: LinkRole;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly sentAt: string;
  readonly clientId?: string;
};

const withLinks = (document: AccessDocument, links: readonly LinkEntry[]): AccessDocument => ({
  ...document,
  links,
  linkedClientIds: links.map(({ clientId }) => clientId),
});

const withInvitations = (document: AccessDocument, invitations: readonly InvitationEntry[]): AccessDocument => ({
  ...document,
  invitations,
  invitedEmails: invitations.filter(({ status }) => status === 'pending').map(({ email }) => email),
});

const withInvitation = (document: AccessDocument, id: string, changes: Partial<InvitationEntry>): AccessDocument =>
  withInvitations(
    document,
    document.invitations.map((invitation) => (invitation.id === id ? { ...invitation, ...changes } : invitation)),
  );

/** Before anybody had access. */
export const noAccess = (websiteId: string): AccessDocument => ({
  websiteId,
  linkedClientIds: [],
  invitedEmails: [],
  links: [],
  invitations: [],
});

export const accessProjection: Projection<AccessDocument, AccessEvent> = {
  name: 'access',
  version: 2,
  handles: [
    'ClientLinked',
    'ClientLinkRoleChanged',
    'ClientUnlinked',
    'InvitationIssued',
    'InvitationRenewed',
    'InvitationAccepted',
    'InvitationRevoked',
  ],
  // A transfer that is being claimed is still pending.
  ignores: ['TransferClaimed', 'TransferReleased'],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => accessStream.name({ websiteId }),
  indexes: [{ field: 'linkedClientIds' }, { field: 'invitedEmails' }],
  evolve: (before, event) => {
    const document = before ?? noAccess(event.data.websiteId);
    const { at } = event.metadata;
    switch (event.type) {
      case 'ClientLinked': {
        const { clientId, role } = event.data;
        return withLinks(document, [
          ...document.links.filter((link) => link.clientId !== clientId),
          { clientId, role, createdAt: at },
        ]);
      }
      case 'ClientLinkRoleChanged': {
        const { clientId, role } = event.data;
        return withLinks(
          document,
          document.links.map((link) => (link.clientId === clientId ? { ...link, role } : link)),
        );
      }
      case 'ClientUnlinked':
        return withLinks(
          document,
          document.links.filter(({ clientId }) => clientId !== event.data.clientId),
        );
      case 'InvitationIssued': {
        const { invitationId, kind, email, role, expiresAt } = event.data;
        const issued: InvitationEntry = {
          id: invitationId,
          kind,
          status: 'pending',
          email,
          ...(role !== undefined && { role }),
          createdAt: at,
          expiresAt,
          sentAt: at,
        };
        return withInvitations(document, [...document.invitations, issued]);
      }
      case 'InvitationRenewed': {
        const { invitationId, role, expiresAt } = event.data;
        return withInvitation(document, invitationId, { expiresAt, sentAt: at, ...(role !== undefined && { role }) });
      }
      case 'InvitationAccepted':
        return withInvitation(document, event.data.invitationId, { status: 'accepted', clientId: event.data.clientId });
      case 'InvitationRevoked':
        return withInvitation(document, event.data.invitationId, { status: 'revoked' });
      default:
        return document;
    }
  },
};
