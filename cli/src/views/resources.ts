/**
 * Lines of resources that have a label for each.
 */
import type {
  APIKey,
  Booking,
  Client,
  Document,
  Domain,
  Invitation,
  Invoice,
  ListWebsiteClientsResponse,
  Media,
  Service,
  Website,
  WebsiteClientLink,
} from '@doorstep/sdk';
import type { Line } from '../output.js';
import { dayClock, fromNow, money, shortDay, shortTime, size, spaced } from './words.js';

const clock = () => ({ now: Date.now() });

const time = (label: string, at: string | undefined): Line =>
  at === undefined ? [label, undefined] : [label, at, shortTime(at, clock())];

const day = (label: string, at: string | undefined): Line =>
  at === undefined ? [label, undefined] : [label, at, shortDay(at, dayClock(clock()))];

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
  ['stays', website.keep?.join(' '), website.keep?.join(', ') ?? ''],
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

export const linkLines = (link: WebsiteClientLink): Line[] => [
  ['email', link.email],
  ['name', link.name],
  ['role', link.role],
  ['id', link.clientId],
  time('since', link.createdAt),
];

export const invoiceLines = (invoice: Invoice): Line[] => [
  ['number', invoice.number],
  ['status', invoice.status],
  ['total', `${String(invoice.total)} ${invoice.currency}`, money(invoice.total, invoice.currency)],
  ['for', invoice.description],
  ['client', invoice.clientId],
  ['id', invoice.id],
  time('made', invoice.createdAt),
  day('due', invoice.dueAt),
  time('paid', invoice.paidAt),
  time('voided', invoice.voidedAt),
  ['address', invoice.url],
];

export const bookingLines = (booking: Booking): Line[] => [
  ['title', booking.title],
  ['status', booking.status],
  time('start', booking.start),
  time('end', booking.end),
  ['location', booking.location],
  ['id', booking.id],
];

export const serviceLines = (service: Service): Line[] => [
  ['kind', service.kind],
  ['shop', service.shopDomain],
  ['site', service.siteId],
  ['events', service.eventTypeIds?.join(' ')],
  ['secrets', service.secretNames.join(' ')],
  ['id', service.id],
  time('attached', service.createdAt),
];

export const keyLines = (key: APIKey): Line[] => [
  ['name', key.name],
  ['token', key.prefix, `${key.prefix}…`],
  ['role', key.role],
  ['may', key.scope],
  ['id', key.id],
  time('created', key.createdAt),
  time('used', key.lastUsedAt),
  time('expires', key.expiresAt),
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
  ...invitations.map(({ email, role = 'viewer', id, status }) => ({
    email,
    as: status === 'expired' ? `invitation as ${role} has expired` : `invited as ${role}`,
    id,
    open: status === 'pending',
  })),
];
