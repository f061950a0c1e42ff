import { Type, type Static } from 'typebox';
import { isoTime } from '../../../platform/clock.js';
import { InvitationKind, LinkRole } from '../../../events/access/access.events.js';
import { keyOfInvitation } from '../../../events/access/access.stream.js';
import { recipientOf } from '../../../events/client/client.directory.js';
import type { Engine } from '../../../engine.js';
import { erased } from '../../../platform/personal.js';
import { hasExpired } from '../../../platform/times.js';
import type { InvitationEntry, LinkEntry } from '../../../projections/access/access.projection.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { invitationMailFold, lastSentAt } from '../../../workers/invitationMail/invitationMail.process.js';
import { PersonalAddress, PersonalName } from '../../personalFields.js';
import type { RouteTag } from '../../route.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import type { Reader } from '../../../projections/reader.js';

export const accessTag: RouteTag = {
  name: 'Access',
  description: 'Who may see a website: its owner, linked clients, invitations.',
};

const Time = Type.String({ format: 'date-time' });

/** WebsiteClientLink (api.md, section 5). */
export const WebsiteClientLink = Type.Object(
  {
    websiteId: Type.String(),
    clientId: Type.String(),
    role: LinkRole,
    email: PersonalAddress,
    name: Type.Optional(PersonalName),
    createdAt: Time,
  },
  { $id: 'WebsiteClientLink', description: 'The access of a client to a website that they do not own.' },
);

/** Invitation (api.md, section 5). */
export const Invitation = Type.Object(
  {
    id: Type.String(),
    kind: InvitationKind,
    status: Type.Enum(['pending', 'accepted', 'revoked', 'expired']),
    websiteId: Type.String(),
    websiteName: Type.Optional(Type.String({ description: 'For the invited.' })),
    email: PersonalAddress,
    role: Type.Optional(LinkRole),
    createdAt: Time,
    expiresAt: Time,
    sentAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When its mail left last, or was asked for, while that one has not left yet; absent of a transfer that is handed over.',
      }),
    ),
    claimUrl: Type.Optional(Type.String({ description: 'Of a transfer, for admins to hand over.' })),
  },
  { $id: 'Invitation', description: 'To a website, or to its ownership.' },
);

export const toLink = async (
  reader: Reader,
  websiteId: string,
  { clientId, role, createdAt }: LinkEntry,
): Promise<Static<typeof WebsiteClientLink>> => {
  const client = (await readClient(reader, clientId))?.client;
  return {
    websiteId,
    clientId,
    role,
    email: client?.email ?? erased,
    ...(client?.name !== undefined && { name: client.name }),
    createdAt,
  };
};

/** Whether it is an invitation of this kind to this website, and was not withdrawn. */
export const isSent = (
  kind: InvitationKind,
  websiteId: string,
  found: { readonly websiteId: string; readonly invitation: InvitationEntry },
): boolean => found.websiteId === websiteId && found.invitation.kind === kind && found.invitation.status !== 'revoked';

export const toInvitation = async (
  engine: Engine,
  websiteId: string,
  entry: InvitationEntry,
): Promise<Static<typeof Invitation>> => {
  const { id, kind, status, email, role, createdAt, expiresAt } = entry;
  const key = keyOfInvitation(id);
  const recipient = key === null ? email : await recipientOf(engine, key.clientId, email);
  const { state: mails } = await engine.state(invitationMailFold, { invitationId: id });
  const sentAt = [entry.mailRequestedAt, lastSentAt(mails)]
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1);
  const expired = status === 'pending' && hasExpired(expiresAt, isoTime(engine.clock.now()));
  return {
    id,
    kind,
    status: expired ? 'expired' : status,
    websiteId,
    email: await engine.personal.display(recipient),
    ...(role !== undefined && { role }),
    createdAt,
    expiresAt,
    ...(sentAt !== undefined && { sentAt }),
  };
};

/** As the invited reads it: with the website's name. */
export const toReceivedInvitation = async (
  engine: Engine,
  reader: Reader,
  websiteId: string,
  entry: InvitationEntry,
): Promise<Static<typeof Invitation>> => {
  const { document: website } = await reader.read(websiteProjection, websiteId);
  const invitation = await toInvitation(engine, websiteId, entry);
  return { ...invitation, ...(website !== null && { websiteName: website.name }) };
};
