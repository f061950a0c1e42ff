import type { AccessEvent, InvitationKind, LinkRole } from '../../events/access/access.events.js';
import { accessStream, type AccessKey } from '../../events/access/access.stream.js';
import { keyTextOf } from '../../events/defineStream.js';
import { defineProjection, type Projection } from '../projection.js';
import { copyWith } from '../../platform/copyWith.js';

/** The link and the invitations of one person to one website. */
export type AccessDocument = {
  readonly websiteId: string;
  readonly clientId: string;
  readonly link?: LinkEntry;
  /** In the order in which they were issued. */
  readonly invitations: readonly InvitationEntry[];
  /** The website and the client of `link`: for finding the links of either. */
  readonly linkedWebsite?: string;
  readonly linkedClient?: string;
  /** The website, while an invitation to it is pending. */
  readonly invitingWebsite?: string;
  /** The website, when its ownership was offered and the offer not withdrawn. */
  readonly offeredWebsite?: string;
};

export type LinkEntry = { readonly clientId: string; readonly role: LinkRole; readonly createdAt: string };

export type InvitationEntry = {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Whether it has expired depends on when it is read. */
  readonly status: 'pending' | 'accepted' | 'revoked';
  /** Encrypted (`platform/personal.ts`). */
  readonly email: string;
  readonly role?: LinkRole;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** When it was issued or renewed last with a mail; ISO 8601 UTC. */
  readonly mailRequestedAt?: string;
  readonly claimedBy?: string;
};

export const accessDocumentId = (key: AccessKey): string => keyTextOf(accessStream, key);

/** The website of a document, from its id: ids hold no hyphen. */
export const websiteOfAccess = (documentId: string): string => documentId.slice(0, documentId.lastIndexOf('-'));

/** With the fields that lists find it by. */
const indexed = ({ websiteId, clientId, invitations }: AccessDocument, link: LinkEntry | undefined): AccessDocument => ({
  websiteId,
  clientId,
  invitations,
  ...(link !== undefined && { link, linkedWebsite: websiteId, linkedClient: clientId }),
  ...(invitations.some(({ kind, status }) => kind === 'client_access' && status === 'pending') && { invitingWebsite: websiteId }),
  ...(invitations.some(({ kind, status }) => kind === 'ownership_transfer' && status !== 'revoked') && {
    offeredWebsite: websiteId,
  }),
});

const withInvitation = (
  document: AccessDocument | null,
  id: string,
  changes: Partial<InvitationEntry>,
): AccessDocument | null => {
  if (document === null) return null;
  const invitations = document.invitations.map((invitation) =>
    invitation.id === id ? copyWith(invitation, changes) : invitation,
  );
  return indexed({ ...document, invitations }, document.link);
};

const noAccess = ({ websiteId, clientId }: AccessKey): AccessDocument => ({ websiteId, clientId, invitations: [] });

export const accessProjection: Projection<AccessDocument, AccessEvent> = defineProjection({
  name: 'access',
  version: 6,
  // One of version 5 lacks `mailRequestedAt`, as an invitation without a mail does.
  readsFrom: 5,
  stream: accessStream,
  indexes: [
    { field: 'clientId' },
    { field: 'linkedWebsite' },
    { field: 'linkedClient' },
    { field: 'invitingWebsite' },
    { field: 'offeredWebsite' },
  ],
  // A transfer that is being claimed is still pending.
  ignores: [
    'ClientLinkNoticeRequested',
    'InvitationRenewalRequested',
    'TransferSubscriptionNamed',
    'TransferClaimed',
    'TransferReleased',
  ],
  on: {
    ClientLinked: (document, { data, metadata }) => {
      const { clientId, role } = data;
      return indexed(document ?? noAccess(data), { clientId, role, createdAt: metadata.at });
    },
    ClientLinkRoleChanged: (document, { data: { role } }) =>
      document?.link === undefined ? document : indexed(document, { ...document.link, role }),
    ClientLinkRestored: (document, { data }) => {
      const { clientId, role, linkedAt } = data;
      return indexed(document ?? noAccess(data), { clientId, role, createdAt: linkedAt });
    },
    ClientUnlinked: (document) => (document === null ? null : indexed(document, undefined)),
    InvitationIssued: (before, { data, metadata: { at } }) => {
      const { invitationId, kind, email, role, expiresAt, sendMail } = data;
      const issued: InvitationEntry = {
        id: invitationId,
        kind,
        status: 'pending',
        email,
        ...(role !== undefined && { role }),
        createdAt: at,
        expiresAt,
        ...(sendMail && { mailRequestedAt: at }),
      };
      const document = before ?? noAccess(data);
      return indexed({ ...document, invitations: [...document.invitations, issued] }, document.link);
    },
    InvitationRenewed: (document, { data: { invitationId, role, expiresAt, sendMail }, metadata: { at } }) =>
      withInvitation(document, invitationId, {
        expiresAt,
        ...(role !== undefined && { role }),
        ...(sendMail && { mailRequestedAt: at }),
      }),
    InvitationAccepted: (document, { data: { invitationId, claimedBy } }) =>
      withInvitation(document, invitationId, { status: 'accepted', claimedBy }),
    InvitationRevoked: (document, { data: { invitationId } }) => withInvitation(document, invitationId, { status: 'revoked' }),
  },
});
