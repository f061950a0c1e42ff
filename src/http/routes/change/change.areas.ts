import type { EventDefinitions } from '../../../events/defineStream.js';
import type { JsonObject } from '../../../events/envelope.js';
import { accessEvents } from '../../../events/access/access.events.js';
import { apiKeyEvents } from '../../../events/apiKey/apiKey.events.js';
import { billingEvents } from '../../../events/billing/billing.events.js';
import { blueprintEvents } from '../../../events/blueprint/blueprint.events.js';
import { bookingEvents } from '../../../events/booking/booking.events.js';
import { documentEvents } from '../../../events/document/document.events.js';
import { mediaEvents } from '../../../events/media/media.events.js';
import { clientEvents } from '../../../events/client/client.events.js';
import { contentEvents } from '../../../events/content/content.events.js';
import { deliveryEvents } from '../../../events/delivery/delivery.events.js';
import { redeployEvents } from '../../../events/deployment/deployment.events.js';
import { domainEvents } from '../../../events/domain/domain.events.js';
import { provisioningEvents } from '../../../events/provisioning/provisioning.events.js';
import { publicationEvents } from '../../../events/publication/publication.events.js';
import { pushEvents } from '../../../events/push/push.events.js';
import { receiptEvents } from '../../../events/receipt/receipt.events.js';
import { seoEvents } from '../../../events/seo/seo.events.js';
import { serviceEvents } from '../../../events/service/service.events.js';
import { siteEvents } from '../../../events/site/site.events.js';
import { websiteEvents, type Feature } from '../../../events/website/website.events.js';

/** What changes of one kind are told as, and to whom. */
export interface ChangeArea {
  /** Of the server-sent events. */
  readonly name: string;
  /** As the routes that read what has changed; nobody else is told. */
  readonly readers: 'admin' | 'adminOrOwner' | 'editors' | 'members';
  /** The feature that these have, by the data of an event where they differ. */
  readonly feature?: Feature | ((data: JsonObject) => Feature);
  readonly types: ReadonlySet<string>;
}

/**
 * @param shown the types that say what a reader would see; the others are the bookkeeping of
 *   processes
 */
const area = <Definitions extends EventDefinitions>(
  name: string,
  readers: ChangeArea['readers'],
  events: Definitions,
  shown: readonly (keyof Definitions & string)[] | 'all',
  feature?: ChangeArea['feature'],
): ChangeArea => ({
  name,
  readers,
  types: new Set(shown === 'all' ? Object.keys(events) : shown),
  ...(feature !== undefined && { feature }),
});

/** An event type that no area names is told to nobody. */
export const changeAreas: readonly ChangeArea[] = [
  area('website', 'members', websiteEvents, [
    'WebsiteCreated',
    'WebsiteRenamed',
    'WebsitePlanChanged',
    'WebsiteBrandColorChanged',
    'WebsiteBrandColorRemoved',
    'WebsiteSlugChanged',
    'WebsiteDeployed',
    'WebsiteOwnerAssigned',
    'WebsiteOwnerRemoved',
    'WebsiteActivated',
    'WebsiteArchived',
    'WebsiteRestored',
    'WebsiteDeletionScheduled',
    'WebsiteDeleted',
  ]),
  area('access', 'adminOrOwner', accessEvents, [
    'ClientLinked',
    'ClientLinkRoleChanged',
    'ClientUnlinked',
    'ClientLinkRestored',
    'InvitationIssued',
    'InvitationRenewed',
    'InvitationAccepted',
    'InvitationRevoked',
  ]),
  area('access', 'admin', accessEvents, ['InvitationRenewalRequested']),
  area('delivery', 'members', deliveryEvents, 'all'),
  area('reader', 'admin', receiptEvents, 'all'),
  area('provisioning', 'members', provisioningEvents, [
    'ProvisioningQueued',
    'ProvisioningStepStarted',
    'ProvisioningStepSucceeded',
    'ProvisioningStepFailed',
    'ProvisioningFailed',
    'ProvisioningRetried',
    'ProvisioningSucceeded',
  ]),
  area('provisioning', 'admin', provisioningEvents, [
    'ProvisioningCompensationRequested',
    'ProvisioningLeftoverRemoved',
    'ProvisioningCompensationFailed',
    'ProvisioningCompensated',
  ]),
  area('deployment', 'members', redeployEvents, 'all'),
  area('deployment', 'members', siteEvents, ['SiteRedeployQueued', 'SiteRedeployed', 'SiteRedeployFailed', 'SiteUpdateFailed']),
  area('deployment', 'members', pushEvents, 'all'),
  area('deployment', 'members', publicationEvents, ['PublicationRequested', 'PublicationDeployed', 'PublicationFailed']),
  area('content', 'members', contentEvents, 'all', ({ collection }) => collection as Feature),
  area('billing', 'adminOrOwner', billingEvents, [
    'SubscriptionAttached',
    'SubscriptionDetached',
    'SubscriptionEnded',
    'InvoiceIssued',
    'InvoicePaid',
    'InvoiceVoided',
  ]),
  area('transfer', 'admin', accessEvents, ['TransferClaimed', 'TransferReleased']),
  area('transfer', 'admin', billingEvents, [
    'TransferLedgerDrawnUp',
    'TransferItemsDone',
    'TransferCompleted',
    'TransferDeclined',
    'TransferFailed',
  ]),
  area('seo', 'members', seoEvents, ['SeoScanRequested', 'SeoScanStarted', 'SeoScanCompleted', 'SeoScanFailed'], 'seo'),
  area(
    'document',
    'members',
    documentEvents,
    ['DocumentUploaded', 'DocumentRenamed', 'DocumentDeleted', 'DocumentRestored'],
    'documents',
  ),
  area('media', 'members', mediaEvents, ['MediaUploaded', 'MediaDescribed', 'MediaDeleted', 'MediaRestored'], 'content'),
  area('booking', 'editors', bookingEvents, 'all', 'scheduling'),
  area('service', 'admin', serviceEvents, 'all'),
  area('domain', 'members', domainEvents, 'all'),
  area('blueprint', 'members', blueprintEvents, 'all', 'blueprint'),
  area('client', 'admin', clientEvents, 'all'),
  area('apiKey', 'admin', apiKeyEvents, 'all'),
];

const areaByType = new Map(changeAreas.flatMap((one) => [...one.types].map((type) => [type, one] as const)));

export const areaOf = (type: string): ChangeArea | undefined => areaByType.get(type);

/** The types of all areas. */
export const changeTypes: ReadonlySet<string> = new Set(areaByType.keys());
