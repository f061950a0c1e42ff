/**
 * Lines of resources that have a label for each.
 */
import type { Client, Document, Domain, Invitation, ListWebsiteClientsResponse, Media, Website } from '@doorstep/sdk';
import type { Line } from '../output.js';
import { fromNow, shortDay, shortTime, size, spaced } from './words.js';

const clock = () => ({ now: Date.now() });

const time = (label: string, at: string | undefined): Line =>
  at === undefined ? [label, undefined] : [label, at, shortTime(at, clock())];

export const websiteLines = (website: Website): Line[] => [
  ['name', website.name],
  ['slug', website.slug],
  ['id', website.id],
  ['status', website.archivedAt === undefined ? website.status : 'archived'],
  ['url', website.url],
  ['tier', website.tier],
  ['features', website.features.join(' '), website.features.join(', ')],
  ['template', website.templateId],
  ['colour', website.brandColor],
  ['owner', website.clientId],
  ['access', website.via === undefined ? undefined : [website.via, website.role].filter(Boolean).join(' ')],
  ['repository', website.repository?.name],
  ['hosting', website.hosting?.name],
  time('created', website.createdAt),
  time('active', website.activatedAt),
  time('archived', website.archivedAt),
  time('deleted', website.purgeAt),
  ['redeploy', website.redeployNeeded, 'the site still shows what was before the last change'],
];

export const clientLines = (client: Client): Line[] => [
  ['email', client.email],
  ['name', client.name],
  ['id', client.id],
  time('since', client.createdAt),
  ['unconfirmed', client.pendingEmail],
];

export const invitationLines = (invitation: Invitation): Line[] => [
  ['website', invitation.websiteName ?? invitation.websiteId],
  ['kind', invitation.kind, spaced(invitation.kind)],
  ['status', invitation.status],
  ['email', invitation.email],
  ['role', invitation.role],
  ['id', invitation.id],
  ['expires', invitation.expiresAt, `${shortDay(invitation.expiresAt, clock())} (${fromNow(invitation.expiresAt, clock())})`],
];

export const documentLines = (document: Document): Line[] => [
  ['name', document.name],
  ['id', document.id],
  ['type', document.contentType],
  ['size', document.size, size(document.size)],
  ['sha256', document.sha256],
  time('uploaded', document.createdAt),
];

export const mediaLines = (media: Media): Line[] => [
  ['name', media.name],
  ['id', media.id],
  ['kind', media.kind],
  ['description', media.alt],
  ['measures', `${String(media.width)}x${String(media.height)}`, `${String(media.width)} × ${String(media.height)}`],
  ['size', media.size, size(media.size)],
  time('uploaded', media.createdAt),
];

export const domainLines = (domain: Domain): Line[] => [
  ['domain', domain.domain],
  ['status', domain.status],
  ...domain.records.map((record): Line => {
    const value = `${record.type} ${record.name} ${record.value}`;
    return ['record', `${value} ${record.found ? 'found' : 'missing'}`, `${value} (${record.found ? 'found' : 'not there yet'})`];
  }),
  ['problem', domain.problem],
];

interface AccessRow {
  readonly email: string;
  readonly name?: string | undefined;
  readonly as: string;
  readonly id: string;
  /** An invitation that nobody has accepted yet. */
  readonly open: boolean;
}

/** Owner, links and open invitations, as rows of one list. */
export const accessRows = ({ owner, links, invitations }: ListWebsiteClientsResponse): AccessRow[] => [
  ...(owner === null ? [] : [{ ...owner, as: 'owner', open: false }]),
  ...links.map(({ email, name, role, clientId }) => ({ email, name, as: role, id: clientId, open: false })),
  ...invitations.map(({ email, role, id, kind }) => ({
    email,
    as: kind === 'ownership_transfer' ? 'offered to own' : `invited as ${role ?? 'viewer'}`,
    id,
    open: true,
  })),
];
